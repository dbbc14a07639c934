import type { Failure } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type Git, gitFailure } from "./git.ts";

/** Flags with which neither attributes of the tree nor the user's settings can hide or run anything. */
const HONEST = [
  "--text",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-renames",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];
const MAX_DIFF_BYTES = 64 * 1024 * 1024;

/**
 * The difference between two commits as a patch; bytes of the tree, to be escaped when shown. One that is longer than
 * anybody reads is cut, and its last line says so.
 */
export async function diffText(
  git: Git,
  from: string,
  to: string,
): Promise<Result<string, Failure>> {
  const args = ["diff-tree", "-r", "-p", ...HONEST, from, to];
  const exit = await git.exec(args, { maxOutputBytes: MAX_DIFF_BYTES });
  if (exit.code !== 0 || exit.ended !== "by-itself") return err(gitFailure(args, exit));
  const text = exit.stdout.toString("utf8");
  if (!exit.truncated) return ok(text.replace(/\n$/, ""));
  const shown = text.slice(0, text.lastIndexOf("\n"));
  return ok(`${shown}\n… the diff is longer than 64 MiB: see the rest with git diff ${from} ${to}`);
}
