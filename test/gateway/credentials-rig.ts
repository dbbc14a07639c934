import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readHostEnvironment } from "../../src/config/environment.ts";
import type { HostEnvironment } from "../../src/core/environment.ts";
import type { Failure } from "../../src/core/failures.ts";
import {
  type CredentialServices,
  readCredential,
} from "../../src/gateway/credentials/read-credential.ts";
import { parseReference } from "../../src/gateway/credentials/reference.ts";
import type { Credential } from "../../src/gateway/port.ts";

export interface Home {
  readonly path: string;
  readonly env: HostEnvironment;
}

/** A home directory of its own, gone when the test is over. */
export async function homeWith(variables: Readonly<Record<string, string>> = {}): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), "guardloop-home-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const env = readHostEnvironment({ PATH: "/usr/bin:/bin", HOME: path, ...variables });
  return { path, env };
}

type Options = Partial<CredentialServices> & { readonly home: Home };

async function read(text: string, { home, ...options }: Options) {
  const notices: string[] = [];
  const reference = parseReference(text);
  if (!reference.ok) throw new Error(reference.error);
  const result = await readCredential(reference.value, {
    env: home.env,
    provider: "openai",
    agent: "codex",
    onNotice: (sentence) => notices.push(sentence),
    ...options,
  });
  return { result, notices };
}

export async function credentialOf(
  text: string,
  options: Options,
): Promise<{ readonly credential: Credential; readonly notices: readonly string[] }> {
  const { result, notices } = await read(text, options);
  if (!result.ok) throw new Error(`${result.error.message} ${result.error.cure}`);
  if (result.value === null) throw new Error("there is no credential");
  return { credential: result.value, notices };
}

export async function missing(text: string, options: Options): Promise<Failure> {
  const { result } = await read(text, options);
  if (result.ok) throw new Error("this credential should not have been read");
  return result.error;
}
