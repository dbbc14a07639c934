import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errnoOf } from "../core/errno.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { writeAtomic } from "../files/write-atomic.ts";

/** Whether the user has accepted exactly this text of a repository's file. */
export type Trusted = "yes" | "no";

const SCHEMA = z.strictObject({
  version: z.literal(1),
  /** Repository id to the SHA-256 of the trusted text, in hex. */
  trusted: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
});
type TrustFile = z.output<typeof SCHEMA>;

/**
 * Asks whether `trust` was called with the same text for this repository. Any changed byte ends the trust.
 *
 * @param stateDir the state directory; it need not exist.
 * @param repositoryId any stable name of the repository.
 * @returns `state-unusable` when the record is there but cannot be read or understood: guessing "no" would hide
 *   damage, guessing "yes" would open the boundary.
 */
export async function isTrusted(
  stateDir: string,
  repositoryId: string,
  text: string | Uint8Array,
): Promise<Result<Trusted, Failure>> {
  const record = await readRecord(stateDir);
  if (!record.ok) return record;
  const known = new Map(Object.entries(record.value.trusted)).get(repositoryId);
  return ok(known === sha256(text) ? "yes" : "no");
}

/**
 * Remembers a text as trusted, in place of the one trusted before. May be called again. Two processes that do this
 * at once can lose one of the two, which then counts as not trusted.
 */
export async function trust(
  stateDir: string,
  repositoryId: string,
  text: string | Uint8Array,
): Promise<Result<void, Failure>> {
  const record = await readRecord(stateDir);
  if (!record.ok) return record;
  const trusted = new Map(Object.entries(record.value.trusted)).set(repositoryId, sha256(text));
  const next: TrustFile = { version: 1, trusted: Object.fromEntries(trusted) };
  try {
    await ensurePrivateDirectory(stateDir);
    await writeAtomic(pathIn(stateDir), `${JSON.stringify(next, null, 2)}\n`);
  } catch (error) {
    return fail("state-unusable", `${pathIn(stateDir)} cannot be written (${errnoOf(error)}).`);
  }
  return ok(undefined);
}

async function readRecord(stateDir: string): Promise<Result<TrustFile, Failure>> {
  const path = pathIn(stateDir);
  let content: string;
  try {
    content = await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return ok({ version: 1, trusted: {} });
    return fail("state-unusable", `${path} cannot be read (${errnoOf(error)}).`);
  }
  const record = SCHEMA.safeParse(parseJson(content));
  if (record.success) return ok(record.data);
  return fail("state-unusable", `${path} is damaged: it is not a record of trusted files.`, {
    cure: "Remove it, then run `guardloop trust` again where you need it.",
  });
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function pathIn(stateDir: string): string {
  return join(stateDir, "trust.json");
}

function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
