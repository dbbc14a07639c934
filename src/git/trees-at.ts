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

export interface TreesAt {
  /** Those that are directories there. */
  readonly trees: ReadonlyMap<string, Tree>;
  /** Those that are files or links there. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

/** Where contents are read they come into this process's memory, in pieces. */
const MOST_BYTES = { trees: 64 * 1024 * 1024, withContents: 16 * 1024 * 1024 };

/**
 * The entries of some directories of a commit, and the contents of some of its files, with one start of Git and nothing
 * read of the others. Fails where they are too large.
 *
 * @param directories without a slash at the end, one character a byte, no control characters; empty for the top.
 * @param files likewise.
 */
export async function treesAt(
  git: Git,
  commit: string,
  { directories, files }: Readonly<Record<"directories" | "files", readonly string[]>>,
): Promise<Result<TreesAt, Failure>> {
  const asked = [...directories, ...files];
  const most = files.length === 0 ? MOST_BYTES.trees : MOST_BYTES.withContents;
  const enough = new AbortController();
  let bytes = 0;
  const output = await gitOutput(git, ["cat-file", "--batch"], {
    stdin: Buffer.from(asked.map((one) => `${commit}:${one}\n`).join(""), "latin1"),
    maxOutputBytes: most,
    signal: enough.signal,
    onOutput: (_, chunk) => {
      bytes += chunk.length;
      if (bytes > most) enough.abort();
    },
  });
  if (!output.ok) return output;
  const trees = new Map<string, Tree>();
  const contents = new Map<string, Buffer>();
  let at = 0;
  for (const [index, path] of asked.entries()) {
    const feed = output.value.indexOf("\n", at);
    const header = output.value.toString("latin1", at, feed);
    const [, id = "", type, size] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(header) ?? [];
    // A line without content: there is no such object.
    at = feed + 1 + (size === undefined ? 0 : Number(size) + 1);
    const content = output.value.subarray(feed + 1, at - 1);
    if (type === "tree" && index < directories.length)
      trees.set(path, { id, entries: parseTree(content) });
    if (type === "blob" && index >= directories.length) contents.set(path, content);
  }
  return ok({ trees, contents });
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
