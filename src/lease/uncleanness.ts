import { DEADLINES } from "../core/limits.ts";
import { type Git, gitOutput } from "../git/git.ts";

/**
 * Says what is changed or untracked (ignored files do not count); undefined when the worktree is clean.
 *
 * @param mode `refresh` also writes down in the index which files were found unchanged, so that none of them is read
 *   again the next time; only for who holds the worktree.
 */
export async function uncleanness(
  here: Git,
  mode: "look" | "refresh",
): Promise<string | undefined> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
  const status = await gitOutput(here, args, {
    deadlineMs: DEADLINES.gitLongMs,
    ...(mode === "refresh" ? { optionalLocks: "take" } : {}),
  });
  if (!status.ok) return status.error.message;
  const first = status.value.toString("utf8").split("\0")[0] ?? "";
  return first === "" ? undefined : `has changes, the first is ${JSON.stringify(first.slice(3))}`;
}

const NUL = 0;

/**
 * Says that Git was told not to look at a file (`update-index --assume-unchanged`), whose changes `git status` then does
 * not show; undefined when there is none.
 */
export async function unwatched(here: Git): Promise<string | undefined> {
  let first = true;
  let marked = false;
  const exit = await here.exec(["ls-files", "-v", "-z"], {
    deadlineMs: DEADLINES.gitLongMs,
    maxOutputBytes: 0,
    onOutput: (stream, chunk) => {
      if (stream !== "stdout" || chunk.length === 0) return;
      marked ||= (first && isLower(chunk[0])) || startsMarked(chunk);
      first = chunk.at(-1) === NUL;
    },
  });
  if (exit.code !== 0 || exit.ended !== "by-itself") return "has an index that cannot be read";
  return marked ? "has files that Git was told not to look at" : undefined;
}

/** Whether a record that begins behind a NUL in this chunk has the letter of such a file; see git-ls-files(1), -v. */
function startsMarked(chunk: Buffer): boolean {
  for (let at = chunk.indexOf(NUL); at !== -1; at = chunk.indexOf(NUL, at + 1))
    if (isLower(chunk[at + 1])) return true;
  return false;
}

function isLower(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x61 && byte <= 0x7a;
}
