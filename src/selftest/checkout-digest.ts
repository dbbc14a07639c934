import { createHash } from "node:crypto";
import { lstat, readFile, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "../git/git.ts";

/**
 * One hash over everything a checkout is: every file with mode and content, refs but for agent branches, HEAD,
 * configuration, hooks and index entries. Objects may be added: publishing a branch does that.
 */
export async function checkoutDigest(git: Git, repository: string): Promise<string> {
  const hash = createHash("sha256");
  await addTree(hash, repository, (path) => path === join(repository, ".git"));
  const gitDir = join(repository, ".git");
  for (const name of ["HEAD", "config"]) hash.update(await readFile(join(gitDir, name)));
  await addTree(hash, join(gitDir, "hooks"), () => false);
  await addTree(hash, join(gitDir, "info"), () => false);
  const refs = await git.exec(["for-each-ref", "--format=%(refname) %(objectname)"]);
  const lines = refs.stdout.toString("utf8").split("\n");
  hash.update(lines.filter((line) => !line.startsWith("refs/heads/agent/")).join("\n"));
  hash.update((await git.exec(["ls-files", "--stage", "-v", "-z"])).stdout);
  return hash.digest("hex");
}

async function addTree(
  hash: ReturnType<typeof createHash>,
  directory: string,
  isLeftOut: (path: string) => boolean,
): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  for (const name of names.toSorted()) {
    const path = join(directory, name);
    if (isLeftOut(path)) continue;
    const stat = await lstat(path);
    hash.update(`${path}\0${stat.mode}\0`);
    if (stat.isSymbolicLink()) hash.update(await readlink(path));
    else if (stat.isDirectory()) await addTree(hash, path, isLeftOut);
    else if (stat.isFile()) hash.update(await readFile(path));
  }
}
