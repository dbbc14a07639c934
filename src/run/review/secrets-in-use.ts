import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { type Git, gitOutput } from "../../git/git.ts";
import type { Principal } from "../../git/principal.ts";
import { readEnvFile } from "../../policy/env-file.ts";
import { canBeSecret } from "../../policy/secret-values.ts";
import { type HeldSecrets, gatewaySecrets } from "./gateway-secrets.ts";

const MOST_FILES = 100;
const MOST_VALUES = 300;
const FILE_BYTES = 256 * 1024;

/** A credential that is in use on this machine. Lives in memory only: nothing may write it down or print it. */
export interface SecretInUse {
  readonly value: string;
  /** The variable, and where it is set: `TOKEN of .env.local`. */
  readonly name: string;
}

export interface SecretsInUse {
  readonly secrets: readonly SecretInUse[];
  /** What was not read, each with why. */
  readonly notRead: readonly string[];
}

/** What a review works with besides the run's own record. */
export interface ReviewServices {
  readonly env: HostEnvironment;
  readonly principal: Pick<Principal, "git" | "topLevel" | "commonDir">;
  /** Sees the commits, where they are not in the principal's repository yet. */
  readonly objects?: Git;
  /** The gateway's credential, in the process of the run alone; another one looks where the reference leads. */
  readonly credential?: HeldSecrets | undefined;
  /** As they were listed when the run began: no agent of it has seen what came later. Missing where no run goes on. */
  readonly envFilesAtStart?: ReturnType<typeof envFiles> | undefined;
}

/** The part of a run spec that says which credentials were in use. */
export type SecretSources = Pick<RunSpec, "gateway"> & {
  readonly agent: Pick<RunSpec["agent"], "passEnv">;
};

/**
 * The values that must not be in what an agent brings back: the gateway's credential, those of the variables that the
 * container got, and those of the `.env` files that Git does not track in the principal checkout.
 */
export async function secretsInUse(
  services: ReviewServices,
  sources: SecretSources,
): Promise<Result<SecretsInUse, Failure>> {
  // Already under way while the gateway is asked.
  const files = services.envFilesAtStart ?? envFiles(services);
  const held = await gatewaySecrets(services, sources);
  const passed = sources.agent.passEnv.flatMap((name) => {
    const value = services.env.read(name);
    return value === undefined || !canBeSecret(`key ${name}`, value)
      ? []
      : [{ value, name: `${name} of the environment` }];
  });
  const listed = await files;
  if (!listed.ok) return listed;
  // A server of one's own may want a key that is a word, and words stand in code.
  const credential = held.filter(({ name, value }) => canBeSecret(`key ${name}`, value));
  const secrets: SecretInUse[] = [...credential, ...passed];
  const notRead: string[] = [];
  for (const path of listed.value.slice(0, MOST_FILES)) {
    const text = await readStart(join(services.principal.topLevel, path));
    if (text === undefined) continue;
    if (text.more) notRead.push(`${path}: only its first 256 KiB were read for values`);
    for (const { name, value } of readEnvFile(text.text))
      if (canBeSecret(name, value)) secrets.push({ value, name: `${name} of ${path}` });
  }
  const others = listed.value.length - MOST_FILES;
  if (others > 0) notRead.push(`${others} more .env files were not read for values`);
  const values = secrets.length - MOST_VALUES;
  if (values > 0) notRead.push(`${values} more values of .env files were not searched for`);
  return ok({ secrets: secrets.slice(0, MOST_VALUES), notRead });
}

/** Untracked and ignored files named `.env` or `.env.*`, from the top of the work tree. */
export async function envFiles(
  services: Pick<ReviewServices, "principal">,
): Promise<Result<readonly string[], Failure>> {
  const listed = await gitOutput(
    services.principal.git,
    ["ls-files", "--others", "-z", "--", ":(top,glob,icase)**/.env*"],
    { maxOutputBytes: 64 * 1024 * 1024 },
  );
  if (!listed.ok) return listed;
  const paths = listed.value.toString("utf8").split("\0");
  // The pathspec also takes what lies in a directory of such a name, for example a Python environment.
  return ok(paths.filter((path) => /(?:^|\/)\.env[^/]*$/i.test(path)));
}

/** The user's own file, so a link is followed; undefined when it is gone, closed to us, or no file. */
async function readStart(
  path: string,
): Promise<{ readonly text: string; readonly more: boolean } | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isFile() !== true) return undefined;
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(Math.min(stats.size, FILE_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return { text: buffer.toString("utf8", 0, bytesRead), more: stats.size > FILE_BYTES };
  } finally {
    await handle.close();
  }
}
