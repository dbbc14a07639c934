import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

export interface ListedFile {
  /** A name that is not UTF-8 comes with replacement characters. */
  readonly path: string;
  /** Six octal digits, as Git writes it. */
  readonly mode: string;
  readonly id: string;
}

/** All files of a commit, links and links to other repositories too, in Git's order. */
export async function listFiles(
  git: Git,
  commit: string,
): Promise<Result<readonly ListedFile[], Failure>> {
  const listed = await gitOutput(git, ["ls-tree", "-r", "-z", "--full-tree", commit], {
    maxOutputBytes: 256 * 1024 * 1024,
  });
  if (!listed.ok) return listed;
  const rows = listed.value.toString("utf8").split("\0");
  return ok(
    rows
      .filter((row) => row !== "")
      .map((row) => {
        const tab = row.indexOf("\t");
        const [mode = "", , id = ""] = row.slice(0, tab).split(" ");
        return { mode, id, path: row.slice(tab + 1) };
      }),
  );
}
