import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { readBlobs } from "./blobs.ts";
import { type Git, gitOutput } from "./git.ts";

/** Paths of all files in a commit, in Git's order. A name that is not UTF-8 comes with replacement characters. */
export async function listPaths(
  git: Git,
  commit: string,
): Promise<Result<readonly string[], Failure>> {
  const listed = await gitOutput(
    git,
    ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit],
    {
      maxOutputBytes: 256 * 1024 * 1024,
    },
  );
  if (!listed.ok) return listed;
  return ok(
    listed.value
      .toString("utf8")
      .split("\0")
      .filter((path) => path !== ""),
  );
}

export interface FileText {
  readonly path: string;
  readonly text: string;
}

export interface WantedFiles {
  readonly isWanted: (path: string) => boolean;
  /** Files and directories outside of which nothing is wanted, as literal paths; empty for everywhere. */
  readonly within: readonly string[];
}

/**
 * Reads those files of a commit whose paths are wanted as text, in Git's order, by two calls of Git however many they
 * are. A file whose name is not UTF-8 is passed over, and so is a submodule.
 */
export async function filesAt(
  git: Git,
  commit: string,
  { isWanted, within }: WantedFiles,
): Promise<Result<readonly FileText[], Failure>> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit, ...within];
  const listed = await gitOutput(git, args, { maxOutputBytes: 256 * 1024 * 1024 });
  if (!listed.ok) return listed;
  const wanted = listed.value
    .toString("utf8")
    .split("\0")
    .map((row) => /^\d+ blob ([0-9a-f]+)\t([^]+)$/.exec(row))
    .map((row) => ({ blob: row?.[1] ?? "", path: row?.[2] ?? "" }))
    .filter(({ path }) => path !== "" && !path.includes("\uFFFD") && isWanted(path));
  const contents = await readBlobs(
    git,
    wanted.map(({ blob }) => blob),
  );
  if (!contents.ok) return contents;
  const files: FileText[] = [];
  for (const { blob, path } of wanted) {
    const bytes = contents.value.get(blob);
    if (bytes === undefined)
      return fail("git-failed", `The object ${blob} of ${path} in commit ${commit} is not there.`);
    files.push({ path, text: bytes.toString("utf8") });
  }
  return ok(files);
}

/**
 * Reads a file of a commit as text, without touching a work tree.
 *
 * @returns undefined when the commit has no such file.
 */
export async function readFileAt(
  git: Git,
  commit: string,
  path: string,
): Promise<Result<string | undefined, Failure>> {
  const name = `${commit}:${path}`;
  // At once: the second does not tell a file that is not in the commit from one whose content is gone.
  const [id, found] = await Promise.all([
    git.exec(["rev-parse", "--verify", "--quiet", "--end-of-options", name]),
    contentOf(git, name),
  ]);
  if (id.code !== 0) return ok(undefined);
  if (found !== undefined) return ok(found.toString("utf8"));
  const bytes = await gitOutput(git, ["cat-file", "blob", id.stdout.toString("utf8").trim()]);
  return bytes.ok ? ok(bytes.value.toString("utf8")) : bytes;
}

/** Undefined for everything but a file whose content is there: why, another call is to say. */
async function contentOf(git: Git, name: string): Promise<Buffer | undefined> {
  if (name.includes("\n")) return undefined;
  const { stdout } = await git.exec(["cat-file", "--batch"], { stdin: `${name}\n` });
  const start = stdout.indexOf("\n") + 1;
  const bytes = /^[0-9a-f]+ blob (\d+)\n$/.exec(stdout.toString("latin1", 0, start))?.[1];
  if (bytes === undefined || stdout.length !== start + Number(bytes) + 1) return undefined;
  return stdout.subarray(start, -1);
}
