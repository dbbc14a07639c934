import { copyFile, mkdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface SnapshotRepository {
  /** Top of the snapshot's work tree, on the host. */
  readonly workspaceDir: string;
  /** Index of the base, true for the files that the container will see. */
  readonly indexFile: string;
  readonly base: string;
  /** Name of the branch the snapshot is on. */
  readonly branch: string;
  /** Where the container sees the store that the objects are borrowed from. */
  readonly storeInContainer: string;
}

/**
 * Gives the snapshot its `.git`: on a branch at the base, without remote, hooks or inherited configuration. Written
 * by hand, since its objects lie at a path that only the container has.
 *
 * @param excluded overlay paths, so that the agent's own `git add -A` does not sweep them in.
 */
export async function writeGitDirectory(
  { workspaceDir, indexFile, base, branch, storeInContainer }: SnapshotRepository,
  excluded: readonly string[],
): Promise<void> {
  const gitDir = join(workspaceDir, ".git");
  const ref = join(gitDir, "refs/heads", branch);
  for (const directory of ["objects/info", "objects/pack", "info", "refs/tags", "hooks"])
    await mkdir(join(gitDir, directory), { recursive: true });
  await mkdir(join(ref, ".."), { recursive: true });
  const exclude = excluded.map((path) => `/${path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`);
  const files: Readonly<Record<string, string>> = {
    HEAD: `ref: refs/heads/${branch}\n`,
    config: "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n",
    "objects/info/alternates": `${storeInContainer}/objects\n`,
    "info/exclude": [...exclude, ""].join("\n"),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(gitDir, name), text);
  await writeFile(ref, `${base}\n`);
  await copyIndex(indexFile, join(gitDir, "index"));
}

/**
 * Git looks into files as young as the index itself, since their times cannot tell whether they changed afterwards.
 * A copy keeps that time: with a younger one, a change in the second of the snapshot would not be seen.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { mtimeMs } = await stat(from);
  const wholeSecond = Math.floor(mtimeMs / 1000);
  await utimes(to, wholeSecond, wholeSecond);
}
