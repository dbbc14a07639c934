import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { blobSizes } from "./blobs.ts";
import type { Git } from "./git.ts";
import { LINK_MODE, linkTargets } from "./links.ts";
import { logRows } from "./log-rows.ts";
import { type ChangedEntry, changedEntriesAnd } from "./tree-check.ts";

/** A changed entry with what its content is. Lines are 0 for binary content. */
export interface MeasuredEntry extends ChangedEntry {
  readonly addedLines: number;
  readonly deletedLines: number;
  readonly content: "text" | "binary";
  /** Size of the new blob in bytes; 0 when there is none. */
  readonly sizeBytes: number;
  /** Where a symbolic link points, when the new entry is one. */
  readonly linkTarget: string | null;
}

/** The entries that differ between two commits, with line counts, sizes and link targets. */
export async function measureChanges(
  git: Git,
  from: string,
  to: string,
): Promise<Result<readonly MeasuredEntry[], Failure>> {
  const changed = await changedEntriesAnd(git, { from, to }, "--numstat");
  if (!changed.ok) return changed;
  const { entries, rest } = changed.value;
  const lines = lineCounts(rest);
  const sizes = await blobSizes(
    git,
    entries.map((entry) => entry.newBlob),
  );
  if (!sizes.ok) return sizes;
  const links = entries.filter((entry) => entry.newMode === LINK_MODE);
  const targets = await linkTargets(
    git,
    links.map((link) => link.newBlob),
  );
  if (!targets.ok) return targets;
  const measured: MeasuredEntry[] = [];
  for (const entry of entries) {
    const count = lines.get(entry.path) ?? NO_LINES;
    measured.push({
      ...entry,
      addedLines: count.added,
      deletedLines: count.deleted,
      content: count.content,
      sizeBytes: sizes.value.get(entry.newBlob) ?? 0,
      linkTarget: entry.newMode === LINK_MODE ? (targets.value.get(entry.newBlob) ?? null) : null,
    });
  }
  return ok(measured);
}

interface LineCount {
  readonly added: number;
  readonly deleted: number;
  readonly content: "text" | "binary";
}

const NO_LINES: LineCount = { added: 0, deleted: 0, content: "text" };

/**
 * From the rows of `--numstat`. Attributes of the tree do not decide what counts as binary: git-diff-tree(1) reads them
 * from a work tree or index only, and the blobs decide here.
 */
function lineCounts(rows: string): ReadonlyMap<string, LineCount> {
  const counts = new Map<string, LineCount>();
  for (const row of rows.split("\0")) {
    const [added = "", deleted = "", path] = row.split("\t");
    if (path === undefined) continue;
    const bytes = Buffer.from(path, "latin1");
    const decoded = bytes.toString("utf8");
    const key = Buffer.from(decoded, "utf8").equals(bytes) ? decoded : path;
    counts.set(key, {
      added: Number(added) || 0,
      deleted: Number(deleted) || 0,
      content: added === "-" ? "binary" : "text",
    });
  }
  return counts;
}

export interface CommitSummary {
  readonly commit: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly subject: string;
}

/** The commits after `from` up to `to`, oldest first. */
export async function commitsBetween(
  git: Git,
  from: string,
  to: string,
): Promise<Result<readonly CommitSummary[], Failure>> {
  const rows = await logRows(git, { from, to }, "%H%x01%an%x01%ae%x01%s");
  if (!rows.ok) return rows;
  return ok(
    rows.value.map((row) => {
      const [commit = "", authorName = "", authorEmail = "", subject = ""] = row.split("\u0001");
      return { commit, authorName, authorEmail, subject };
    }),
  );
}
