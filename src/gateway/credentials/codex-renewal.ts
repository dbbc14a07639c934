import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { HostEnvironment } from "../../core/environment.ts";
import { errnoOf } from "../../core/errno.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type HeldLock, takeLock } from "../../files/lock-file.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { ownerOf } from "../../process/owner.ts";
import {
  type CodexAuth,
  type RenewedTokens,
  codexAuth,
  readCodexAuth,
  writeCodexAuth,
} from "./codex-auth-file.ts";
import { type RefreshEndpoint, refreshCodex } from "./codex-refresh.ts";

/** As Codex does it: a token that ends within five minutes is renewed before it is used. */
const RENEW_BEFORE_MS = 5 * 60_000;
const LOCK_NAME = "codex-login.lock";
const LOCK_PAUSE_MS = 50;
/** Longer than one renewal may take. */
const LOCK_MOST_MS = 60_000;

export interface Renewal {
  /** Of auth.json. */
  readonly path: string;
  readonly env: Pick<HostEnvironment, "stateDir" | "hostname">;
  readonly endpoint: RefreshEndpoint;
  readonly now: () => Date;
  readonly onNotice: (sentence: string) => void;
  /** Told of every login that was read or made, before anything is done with it. */
  readonly onSeen: (auth: CodexAuth) => void;
}

/** Whether the access token can be used as it is; one that does not say when it ends counts as good. */
export function isFresh({ expiresAt }: CodexAuth, now: Date): boolean {
  return expiresAt === undefined || expiresAt.getTime() - now.getTime() > RENEW_BEFORE_MS;
}

/**
 * The login as the file has it, renewed where it is about to end. May be called by several processes at once: the refresh
 * token is used by one of them, and the others find what that one wrote.
 *
 * @returns a sentence, without anything of the tokens.
 */
export async function readOrRenew(at: Renewal): Promise<Result<CodexAuth, string>> {
  const there = await seen(at);
  if (!there.ok || isFresh(there.value, at.now())) return there;
  const lock = await waitForLock(at.env);
  if (lock === undefined)
    return lastResort(at, there.value, "another process has been renewing it for a minute");
  try {
    // Whoever had the lock before has renewed it; so may Codex itself have, which does not ask for the lock.
    const now = await seen(at);
    return !now.ok || isFresh(now.value, at.now()) ? now : await renew(at, now.value);
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

async function renew(at: Renewal, old: CodexAuth): Promise<Result<CodexAuth, string>> {
  const renewed = await refreshCodex(old.refreshToken, at.endpoint);
  if (!renewed.ok) {
    const { kind, said } = renewed.error;
    if (kind === "unreachable") return lastResort(at, old, `it could not be renewed (${said})`);
    const again = await seen(at);
    if (again.ok && again.value.refreshToken !== old.refreshToken && isFresh(again.value, at.now()))
      return again;
    return err(`The login in ${at.path} is over (${said}); run \`codex login\` again.`);
  }
  const refreshToken = renewed.value.refreshToken ?? old.refreshToken;
  const auth = codexAuth({ ...renewed.value, refreshToken }, old.accountId);
  at.onSeen(auth);
  await writeBack(at, renewed.value);
  return ok(auth);
}

async function writeBack(at: Renewal, renewed: RenewedTokens): Promise<void> {
  try {
    await writeCodexAuth(at.path, renewed, at.now());
  } catch (error) {
    at.onNotice(
      `The renewed login could not be written to ${at.path} (${errnoOf(error)}): this run goes on with it, but run \`codex login\` again afterwards.`,
    );
  }
}

/** What cannot be renewed now may be good for some minutes yet. */
function lastResort(at: Renewal, old: CodexAuth, why: string): Result<CodexAuth, string> {
  const isOver = old.expiresAt !== undefined && old.expiresAt <= at.now();
  return isOver ? err(`The login in ${at.path} has ended, and ${why}; try again later.`) : ok(old);
}

async function seen(at: Renewal): Promise<Result<CodexAuth, string>> {
  const auth = await readCodexAuth(at.path);
  if (!auth.ok) return err(`${at.path} ${auth.error}; run \`codex login\`.`);
  at.onSeen(auth.value);
  return auth;
}

async function waitForLock(env: Renewal["env"]): Promise<HeldLock | undefined> {
  await ensurePrivateDirectory(env.stateDir);
  const started = performance.now();
  for (;;) {
    const lock = await takeLock(join(env.stateDir, LOCK_NAME), ownerOf(process.pid, env.hostname));
    if (!("heldBy" in lock)) return lock;
    if (performance.now() - started > LOCK_MOST_MS) return undefined;
    await delay(LOCK_PAUSE_MS);
  }
}
