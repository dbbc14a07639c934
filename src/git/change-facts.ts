import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { blobSizes } from "./blobs.ts";
import { type Git, gitOutput } from "./git.ts";
import { LINK_MODE, linkTargets } from "./links.ts";
import { logRows } from "./log-rows.ts";
import { type ChangedEntry, changedEntries } from "./tree-check.ts";

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
  const entries = await changedEntries(git, from, to);
  if (!entries.ok) return entries;
  const lines = await lineCounts(git, from, to);
  if (!lines.ok) return lines;
  const sizes = await blobSizes(
    git,
    entries.value.map((entry) => entry.newBlob),
  );
  if (!sizes.ok) return sizes;
  const links = entries.value.filter((entry) => entry.newMode === LINK_MODE);
  const targets = await linkTargets(
    git,
    links.map((link) => link.newBlob),
  );
  if (!targets.ok) return targets;
  const measured: MeasuredEntry[] = [];
  for (const entry of entries.value) {
    const count = lines.value.get(entry.path) ?? NO_LINES;
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

async function lineCounts(
  git: Git,
  from: string,
  to: string,
): Promise<Result<ReadonlyMap<string, LineCount>, Failure>> {
  // Attributes of the tree must not decide what counts as binary: --attr-source is newer than what we support,
  // but diff-tree reads attributes from a work tree or index only, and the blobs decide here.
  const output = await gitOutput(
    git,
    [
      "diff-tree",
      "-r",
      "-z",
      "--numstat",
      "--no-renames",
      "--no-ext-diff",
      "--no-textconv",
      from,
      to,
    ],
    { maxOutputBytes: 256 * 1024 * 1024 },
  );
  if (!output.ok) return output;
  const counts = new Map<string, LineCount>();
  for (const row of output.value.toString("latin1").split("\0")) {
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
  return ok(counts);
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
