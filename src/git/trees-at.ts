import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

export interface TreeEntry {
  /** Octal, as a tree has it: `40000` for a directory. */
  readonly mode: string;
  readonly id: string;
}

export interface Tree {
  readonly id: string;
  /** Names are one character a byte. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

export const DIRECTORY_MODE = "40000";

/**
 * The entries of some directories of a commit, with one start of Git and nothing read of the others.
 *
 * @param directories without a slash at the end, one character a byte, no control characters; empty for the top.
 * @returns those that are directories there.
 */
export async function treesAt(
  git: Git,
  commit: string,
  directories: readonly string[],
): Promise<Result<ReadonlyMap<string, Tree>, Failure>> {
  const output = await gitOutput(git, ["cat-file", "--batch"], {
    stdin: Buffer.from(directories.map((one) => `${commit}:${one}\n`).join(""), "latin1"),
  });
  if (!output.ok) return output;
  const found = new Map<string, Tree>();
  let at = 0;
  for (const directory of directories) {
    const feed = output.value.indexOf("\n", at);
    const header = output.value.toString("latin1", at, feed);
    const [, id = "", type, size] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(header) ?? [];
    // A line without content: there is no such object.
    at = feed + 1 + (size === undefined ? 0 : Number(size) + 1);
    if (type === "tree")
      found.set(directory, { id, entries: parseTree(output.value.subarray(feed + 1, at - 1)) });
  }
  return ok(found);
}

/** Each entry of a tree object: mode, blank, name, NUL, and the id's 20 bytes. */
function parseTree(raw: Buffer): Tree["entries"] {
  const entries = new Map<string, TreeEntry>();
  for (let at = 0; at < raw.length;) {
    const blank = raw.indexOf(0x20, at);
    const nul = raw.indexOf(0, blank);
    const id = raw.toString("hex", nul + 1, nul + 21);
    entries.set(raw.toString("latin1", blank + 1, nul), {
      mode: raw.toString("latin1", at, blank),
      id,
    });
    at = nul + 21;
  }
  return entries;
}
