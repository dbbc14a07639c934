import { lstat, mkdir, opendir } from "node:fs/promises";
import { join } from "node:path";
import { ARTIFACT } from "../../core/artifacts.ts";
import { type Failure, type FailureCode, fail } from "../../core/failures.ts";
import { LIMITS } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";
import { explainUnreadable, readUntrusted } from "../../files/read-untrusted.ts";
import { writeAtomic } from "../../files/write-atomic.ts";

/** What the outbox held, in host memory; every byte is untrusted. Undefined: there is no such file. */
export interface Outbox {
  readonly taskId: Buffer | undefined;
  readonly commitMessage: Buffer | undefined;
  readonly manifest: Buffer | undefined;
  /** In the order of their numbers. */
  readonly patches: readonly { readonly name: string; readonly bytes: Buffer }[];
}

const PATCH_NAME = /^(\d{4,6})-[A-Za-z0-9._-]{1,100}\.patch$/;

/**
 * Reads what a container left in its artifacts directory. Nothing is followed, nothing but regular files is opened,
 * counts and sizes are bounded while reading. The container must be proven gone.
 *
 * @returns a `bad-…` failure that names the artifact and the reason.
 */
export async function readOutbox(directory: string): Promise<Result<Outbox, Failure>> {
  const root = await lstat(directory).catch(() => undefined);
  if (root?.isDirectory() !== true)
    return fail("bad-patches", "The artifacts directory is not a directory any more.");
  const taskId = await read(directory, ARTIFACT.taskId, ["bad-task-id", LIMITS.taskIdBytes]);
  if (!taskId.ok) return taskId;
  const commitMessage = await read(directory, ARTIFACT.commitMessage, [
    "bad-commit-message",
    LIMITS.commitMessageBytes,
  ]);
  if (!commitMessage.ok) return commitMessage;
  const manifest = await read(directory, ARTIFACT.manifest, ["bad-manifest", LIMITS.manifestBytes]);
  if (!manifest.ok) return manifest;
  const patches = await readPatches(join(directory, ARTIFACT.patches));
  if (!patches.ok) return patches;
  return ok({
    taskId: taskId.value,
    commitMessage: commitMessage.value,
    manifest: manifest.value,
    patches: patches.value,
  });
}

async function read(
  directory: string,
  name: string,
  [code, limitBytes]: readonly [FailureCode, number],
): Promise<Result<Buffer | undefined, Failure>> {
  const bytes = await readUntrusted(join(directory, name), limitBytes);
  if (bytes.ok) return bytes;
  if (bytes.error.kind === "missing") return ok(undefined);
  return fail(code, `The artifact ${name} ${explainUnreadable(bytes.error)}.`);
}

async function readPatches(directory: string): Promise<Result<Outbox["patches"], Failure>> {
  const stat = await lstat(directory).catch(() => undefined);
  if (stat === undefined) return ok([]);
  // The parent of what is read must be a real directory: O_NOFOLLOW guards only the last component.
  if (!stat.isDirectory()) return fail("bad-patches", "The artifact patches is not a directory.");
  const names = await patchNames(directory);
  if (!names.ok) return names;
  const patches: Outbox["patches"][number][] = [];
  let total = 0;
  for (const name of names.value) {
    const bytes = await readUntrusted(join(directory, name), LIMITS.patchBytes);
    if (!bytes.ok)
      return fail("bad-patches", `The artifact patches/${name} ${explainUnreadable(bytes.error)}.`);
    total += bytes.value.length;
    if (total > LIMITS.allPatchesBytes)
      return fail(
        "bad-patches",
        `The patches are larger than ${LIMITS.allPatchesBytes} bytes together.`,
      );
    patches.push({ name, bytes: bytes.value });
  }
  return ok(patches);
}

/** Names are read byte by byte (latin1) and counted while reading; numbers must run from 1 without a gap. */
async function patchNames(directory: string): Promise<Result<readonly string[], Failure>> {
  const names: string[] = [];
  for await (const entry of await opendir(directory, { encoding: "latin1" })) {
    const { name } = entry;
    if (!PATCH_NAME.test(name))
      return fail(
        "bad-patches",
        `The artifact patches holds ${JSON.stringify(name)}, which is not named like 0001-subject.patch.`,
      );
    names.push(name);
    if (names.length > LIMITS.patchFiles)
      return fail(
        "bad-patches",
        `The artifact patches holds more than ${LIMITS.patchFiles} files.`,
      );
  }
  // Names break ties, so that the sentence about a number that is there twice is the same every time.
  const sorted = names.toSorted((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1));
  const wrong = sorted.find((name, index) => numberOf(name) !== index + 1);
  if (wrong !== undefined)
    return fail(
      "bad-patches",
      `The numbers in patches do not run from 1, each once and without a gap (at ${wrong}).`,
    );
  return ok(sorted);
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10);
}

/** Writes the host's own copies. May be called again. */
export async function saveOutbox(outbox: Outbox, directory: string): Promise<void> {
  await mkdir(join(directory, ARTIFACT.patches), { recursive: true, mode: 0o700 });
  const files: readonly (readonly [string, Buffer | undefined])[] = [
    [ARTIFACT.taskId, outbox.taskId],
    [ARTIFACT.commitMessage, outbox.commitMessage],
    [ARTIFACT.manifest, outbox.manifest],
  ];
  for (const [name, bytes] of files)
    if (bytes !== undefined) await writeAtomic(join(directory, name), bytes);
  for (const patch of outbox.patches)
    await writeAtomic(join(directory, ARTIFACT.patches, patch.name), patch.bytes);
}
