import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { readBlobs } from "./blobs.ts";
import type { MeasuredEntry } from "./change-facts.ts";
import type { Git } from "./git.ts";

/** The specification's limit: a pointer is smaller than this. */
const POINTER_BYTES = 1024;
const FIRST_LINE = "version https://git-lfs.github.com/spec/v1\n";

/**
 * Paths whose new content is a Git LFS pointer that the base did not have: an import brings no LFS objects, so what it
 * points to exists nowhere. A pointer that was moved keeps its blob, and its content. Format:
 * https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
 */
export async function newLfsPointers(
  git: Git,
  changes: readonly MeasuredEntry[],
): Promise<Result<readonly string[], Failure>> {
  const before = new Set(changes.map((change) => change.oldBlob));
  const candidates = changes.filter(
    (change) =>
      change.newMode.startsWith("100") &&
      change.sizeBytes >= FIRST_LINE.length &&
      change.sizeBytes < POINTER_BYTES &&
      !before.has(change.newBlob),
  );
  const contents = await readBlobs(
    git,
    candidates.map((change) => change.newBlob),
  );
  if (!contents.ok) return contents;
  return ok(
    candidates
      .filter((change) => isPointer(contents.value.get(change.newBlob)))
      .map((change) => change.path),
  );
}

function isPointer(content: Buffer | undefined): boolean {
  const text = content?.toString("latin1") ?? "";
  return text.startsWith(FIRST_LINE) && /^oid [a-z0-9-]+:[0-9a-f]+$/m.test(text);
}
