import type { Failure } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import { type Git, gitText } from "./git.ts";

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

/** The difference between two commits as a patch; bytes of the tree, to be escaped when shown. */
export function diffText(git: Git, from: string, to: string): Promise<Result<string, Failure>> {
  return gitText(git, ["diff-tree", "-r", "-p", ...HONEST, from, to], {
    maxOutputBytes: MAX_DIFF_BYTES,
  });
}
