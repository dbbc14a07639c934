import { open } from "node:fs/promises";
import { join } from "node:path";
import type { GuestJob } from "../core/artifacts.ts";
import { must, mustText, words } from "./git.ts";
import type { ExportedCommit } from "./history.ts";
import { mailSafeAuthor, mailSafeMessage, slugOf } from "./mail-safe.ts";
import type { OwnRepository } from "./own-repository.ts";

/** Independent of every configuration; `-k` and the mail-safe message keep the mail's subject in one piece. */
const FORMAT = [
  ...words("format-patch --stdout -1 -k --always --binary --full-index --no-renames --no-stat"),
  ...words("--no-signature --zero-commit --no-attach --no-thread --no-cover-letter --no-base"),
  ...words("--no-notes --no-color --no-ext-diff --no-textconv --src-prefix=a/ --dst-prefix=b/"),
  ...words("--submodule=short --ignore-submodules=none --unified=3 --inter-hunk-context=0"),
  "--diff-algorithm=myers",
];

export interface PatchFile {
  readonly file: string;
  readonly commit: ExportedCommit;
}

/**
 * Writes one patch a commit. The mails carry copies of the commits: same trees, messages and authors that no mail
 * format mangles.
 *
 * @param options.directory an empty directory.
 */
export async function writePatches(
  own: OwnRepository,
  commits: readonly ExportedCommit[],
  options: { readonly directory: string; readonly job: GuestJob },
): Promise<readonly PatchFile[]> {
  const written: PatchFile[] = [];
  let parent = options.job.base;
  for (const [index, commit] of commits.entries()) {
    parent = await mustText(own.git, ["commit-tree", commit.tree, "-p", parent, "-F", "-"], {
      stdin: mailSafeMessage(commit.message),
      author: mailSafeAuthor(commit.author, options.job.author),
    });
    const number = String(index + 1).padStart(4, "0");
    const file = `${number}-${slugOf(commit.message)}.patch`;
    await writePatch(own, parent, join(options.directory, file));
    written.push({ file, commit });
  }
  return written;
}

async function writePatch(own: OwnRepository, commit: string, path: string): Promise<void> {
  const handle = await open(path, "wx", 0o644);
  try {
    await handle.chmod(0o644);
    await must(own.git, [...FORMAT, commit], { stdout: handle.fd });
  } finally {
    await handle.close();
  }
}
