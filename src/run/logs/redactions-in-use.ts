import { speaksOfSecret } from "../../policy/secret-values.ts";
import { gatewaySecrets, heldSecrets } from "../review/gateway-secrets.ts";
import {
  type ReviewServices,
  type SecretInUse,
  type SecretSources,
  secretsInUse,
} from "../review/secrets-in-use.ts";
import type { RunServices } from "../services.ts";
import { growingRedactor } from "./growing-redactor.ts";
import type { Redactor } from "./redactor.ts";

/** `production`, `assistant`: such a value stands in logs, and in agents' event streams, in a sense of its own. */
const PLAIN_WORD = /^[\p{L}_]+$/u;
/** Nobody says such a word by chance. */
const LONG_WORD = 16;

/**
 * Takes out of what is written down and shown the gateway's credential, also one that is renewed later, the values that
 * a run's container got by name, and those of the `.env` files that Git does not track in the principal checkout: raw,
 * escaped in JSON, percent-encoded and in base64. Where Git cannot list those files, without them. A run has one for
 * all its stages.
 */
export async function redactorInUse(
  services: ReviewServices & Pick<RunServices, "redactor">,
  sources: SecretSources,
): Promise<Redactor> {
  if (services.redactor !== undefined) return services.redactor;
  const inUse = await secretsInUse(services, sources);
  const known = [
    ...passedSecrets(services, sources),
    ...(await gatewaySecrets(services, sources)).filter(isWorthHiding),
    ...(inUse.ok ? inUse.value.secrets : []),
  ];
  const { credential } = services;
  return growingRedactor(() =>
    credential === undefined ? known : [...known, ...heldSecrets(credential).filter(isWorthHiding)],
  );
}

/** More than a review calls a secret: what is passed is seldom in a log on purpose. */
function passedSecrets({ env }: ReviewServices, { agent }: SecretSources): readonly SecretInUse[] {
  return agent.passEnv.flatMap((name) => {
    const value = env.read(name);
    if (value === undefined || (PLAIN_WORD.test(value) && !speaksOfSecret(name))) return [];
    return [{ name: `${name} of the environment`, value }];
  });
}

/** A server of one's own may want a key that is a word of what everybody says, for example the server's name. */
function isWorthHiding({ value }: SecretInUse): boolean {
  return !PLAIN_WORD.test(value) || value.length >= LONG_WORD;
}
