import type { HostEnvironment } from "../../core/environment.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { rereadSecrets } from "../../gateway/credentials/reread.ts";
import type { Credential } from "../../gateway/port.ts";
import type { SecretInUse } from "./secrets-in-use.ts";

/** What is needed of a credential to keep it out of logs and branches. */
export type HeldSecrets = Pick<Credential, "secrets" | "shown">;

/** What was ever used as a run's credential, under the name that may be shown. */
export function heldSecrets({ shown, secrets }: HeldSecrets): readonly SecretInUse[] {
  return secrets().map((value) => ({ value, name: nameOf(shown) }));
}

/**
 * The credential of a run's gateway: what the process of the run holds, or what its reference leads to now where this is
 * another process.
 */
export async function gatewaySecrets(
  services: { readonly env: HostEnvironment; readonly credential?: HeldSecrets | undefined },
  spec: Pick<RunSpec, "gateway">,
): Promise<readonly SecretInUse[]> {
  if (services.credential !== undefined) return heldSecrets(services.credential);
  const shown = spec.gateway?.credential ?? null;
  if (shown === null) return [];
  const values = await rereadSecrets(shown, services.env);
  return values.map((value) => ({ value, name: nameOf(shown) }));
}

function nameOf(shown: string): string {
  return shown.startsWith("env:") ? `${shown.slice(4)} of the environment` : `credential ${shown}`;
}
