import { join } from "node:path";
import { ARTIFACT, type GuestJob } from "../core/artifacts.ts";
import { LIMITS } from "../core/limits.ts";
import { type Git, mustText } from "./git.ts";
import { type ExportedCommit, readCommit } from "./history.ts";
import { readBounded, strictUtf8 } from "./read-file.ts";

/** Commits the guest makes itself: leftovers, and a flattened history. */
export async function ownCommit(
  git: Git,
  job: GuestJob,
  facts: { readonly tree: string; readonly parent: string },
): Promise<ExportedCommit> {
  const id = await mustText(git, ["commit-tree", facts.tree, "-p", facts.parent, "-F", "-"], {
    stdin: agentsMessage(job.paths.artifacts) ?? `Work of guardloop run ${job.runId}\n`,
    author: { ...job.author, date: `@${Math.floor(Date.now() / 1000)} +0000` },
  });
  return readCommit(git, id);
}

/**
 * The text of last-commit-message.txt with line feeds only and one at its end; undefined when the file is not
 * there or not usable as a message.
 */
export function agentsMessage(artifacts: string): string | undefined {
  const path = join(artifacts, ARTIFACT.commitMessage);
  const bytes = readBounded(path, LIMITS.commitMessageBytes);
  const text = bytes.ok ? strictUtf8(bytes.value) : undefined;
  if (text === undefined || text.includes("\0")) return undefined;
  const tidy = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .trim();
  return tidy === "" ? undefined : `${tidy}\n`;
}
