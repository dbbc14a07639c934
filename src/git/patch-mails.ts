import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import type { Result } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

const MAX_BYTES = 512 * 1024 * 1024;

/** Flags and settings against every `format.*` and `diff.*` of the user's that would add, leave out or reword something. */
const SETTINGS = [
  "format.headers=",
  "format.mboxrd=false",
  "format.encodeEmailHeaders=true",
  "diff.suppressBlankEmpty=false",
  "diff.submodule=short",
  "log.mailmap=false",
].flatMap((setting) => ["-c", setting]);
const FLAGS = [
  "--stdout",
  "--keep-subject",
  "--always",
  "--binary",
  "--full-index",
  "--unified=3",
  "--inter-hunk-context=0",
  "--no-renames",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "-O/dev/null",
  "--encoding=UTF-8",
  "--no-attach",
  "--no-signature",
  "--no-cover-letter",
  "--no-thread",
  "--no-to",
  "--no-cc",
  "--no-add-header",
  "--no-notes",
  "--no-from",
  "--no-base",
  "--no-signoff",
];

/**
 * The commits after `from` up to `to` as mails, for `git am --keep --keep-cr`, which makes the same trees of them. Bytes of the
 * commits: to be escaped when shown.
 */
export function patchMails(git: Git, from: string, to: string): Promise<Result<Buffer, Failure>> {
  return gitOutput(git, [...SETTINGS, "format-patch", ...FLAGS, `${from}..${to}`], {
    maxOutputBytes: MAX_BYTES,
    deadlineMs: DEADLINES.gitLongMs,
  });
}
