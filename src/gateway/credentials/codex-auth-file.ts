import { realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { readSecretFile } from "./from-file.ts";
import { secretIn } from "./secret-text.ts";

/** What Codex keeps of a ChatGPT login (codex-rs/login/src/auth/storage.rs), as far as it is needed here. */
export interface CodexAuth {
  readonly accessToken: string;
  /** Good for one use; its answer brings the next one. */
  readonly refreshToken: string;
  readonly accountId: string;
  /** Every token in the file. */
  readonly secrets: readonly string[];
  /** When the access token ends; undefined where it does not say. */
  readonly expiresAt: Date | undefined;
}

/** What a renewal brings; what is missing stays as it was. */
export interface RenewedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly idToken: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

interface Document {
  readonly json: Json;
  readonly mode: number;
}

export function codexAuthPath(env: Pick<HostEnvironment, "read" | "home">): string {
  const home = env.read("CODEX_HOME");
  const directory = home !== undefined && isAbsolute(home) ? home : join(env.home, ".codex");
  return join(directory, "auth.json");
}

/** @returns what is wrong, to follow the file's name. */
export async function readCodexAuth(path: string): Promise<Result<CodexAuth, string>> {
  const document = await readDocument(path);
  if (!document.ok) return document;
  const tokens = child(document.value.json, "tokens");
  if (tokens === undefined) return err("holds no ChatGPT login");
  const accessToken = text(tokens, "access_token");
  const refreshToken = text(tokens, "refresh_token");
  if (accessToken === undefined || refreshToken === undefined || !secretIn(accessToken).ok)
    return err("holds no complete ChatGPT login");
  const account = child(claimsOf(accessToken), "https://api.openai.com/auth");
  const accountId = text(tokens, "account_id") ?? text(account, "chatgpt_account_id");
  if (accountId === undefined || !secretIn(accountId).ok) return err("names no ChatGPT account");
  return ok(codexAuth({ accessToken, refreshToken, idToken: text(tokens, "id_token") }, accountId));
}

/** The login as it is after a renewal, or as a file has it. */
export function codexAuth(
  { accessToken, refreshToken, idToken }: RenewedTokens & { readonly refreshToken: string },
  accountId: string,
): CodexAuth {
  const exp = claimsOf(accessToken)?.["exp"];
  return {
    accessToken,
    refreshToken,
    accountId,
    secrets: [accessToken, refreshToken, ...(idToken === undefined ? [] : [idToken])],
    expiresAt: typeof exp === "number" ? new Date(exp * 1000) : undefined,
  };
}

/**
 * Puts renewed tokens into the file, as one step that survives a crash. Everything else in it, its permissions and a
 * symbolic link to it stay as they are.
 *
 * @throws when the file cannot be written; the old refresh token is good for nothing then.
 */
export async function writeCodexAuth(
  path: string,
  renewed: RenewedTokens,
  now: Date,
): Promise<void> {
  const file = await realpath(path);
  const document = await readDocument(file);
  if (!document.ok) throw new Error(`${path} ${document.error}`);
  const { json, mode } = document.value;
  const tokens = {
    ...child(json, "tokens"),
    access_token: renewed.accessToken,
    ...(renewed.refreshToken === undefined ? {} : { refresh_token: renewed.refreshToken }),
    ...(renewed.idToken === undefined ? {} : { id_token: renewed.idToken }),
  };
  const changed = { ...json, tokens, last_refresh: now.toISOString() };
  await writeAtomic(file, `${JSON.stringify(changed, null, 2)}\n`, mode);
}

async function readDocument(path: string): Promise<Result<Document, string>> {
  const file = await readSecretFile(path);
  if (!file.ok) return file;
  const json = parsed(file.value.text);
  return json === undefined ? err("is not JSON") : ok({ json, mode: file.value.mode });
}

/** What the middle part of a JSON Web Token says (RFC 7519). Its signature is the provider's to check. */
function claimsOf(token: string): Json | undefined {
  const [, payload = ""] = token.split(".");
  return parsed(Buffer.from(payload, "base64url").toString("utf8"));
}

function parsed(json: string): Json | undefined {
  try {
    return asObject(JSON.parse(json));
  } catch {
    // The parser's own message would quote the text.
    return undefined;
  }
}

function child(json: Json | undefined, name: string): Json | undefined {
  return asObject(json?.[name]);
}

function text(json: Json | undefined, name: string): string | undefined {
  const value = json?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function asObject(value: unknown): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  // An object of JSON has text for keys, and anything for values.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value as Json;
}
