import { chmodSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { GuestJob, Identity } from "../core/artifacts.ts";
import { must, words } from "./git.ts";
import type { ExportedCommit } from "./history.ts";
import { mailSafeAuthor, mailSafeMessage, slugOf } from "./mail-safe.ts";
import type { OwnRepository } from "./own-repository.ts";

/** Independent of every configuration; `-k` and the mail-safe message keep the mail's subject in one piece. */
const FORMAT = [
  ...words("format-patch --quiet --numbered-files -k --always --binary --full-index --no-renames"),
  ...words("--no-stat --no-signature --zero-commit --no-attach --no-thread --no-cover-letter"),
  ...words("--no-base --no-notes --no-color --no-ext-diff --no-textconv"),
  ...words("--src-prefix=a/ --dst-prefix=b/ --submodule=short --ignore-submodules=none"),
  ...words("--unified=3 --inter-hunk-context=0 --diff-algorithm=myers"),
];

const COPIES = "refs/heads/copies";

export interface PatchFile {
  readonly file: string;
  readonly commit: ExportedCommit;
}

/**
 * Writes one patch a commit. The mails carry copies of the commits: same trees, messages and authors that no mail
 * format mangles; or the commits themselves, when the copies would say the same. At most two starts of Git, whatever the
 * number of commits.
 *
 * @param options.directory an empty directory.
 */
export async function writePatches(
  own: OwnRepository,
  commits: readonly ExportedCommit[],
  options: { readonly directory: string; readonly job: GuestJob },
): Promise<readonly PatchFile[]> {
  if (commits.length === 0) return [];
  const { directory, job } = options;
  const range = commits.every((commit) => isMailSafe(commit, job))
    ? [`-${commits.length}`, commits.at(-1)?.id ?? ""]
    : [await makeCopies(own, commits, job)];
  await must(own.git, [...FORMAT, "--output-directory", directory, ...range]);
  const written: PatchFile[] = [];
  for (const [index, commit] of commits.entries()) {
    const number = String(index + 1).padStart(4, "0");
    const file = `${number}-${slugOf(commit.message)}.patch`;
    renameSync(join(directory, String(index + 1)), join(directory, file));
    chmodSync(join(directory, file), 0o644);
    written.push({ file, commit });
  }
  return written;
}

/** Whether a mail of this commit says what one of its copy would. */
function isMailSafe({ headers, message, author }: ExportedCommit, job: GuestJob): boolean {
  if (headers !== "plain" || mailSafeMessage(message) !== message) return false;
  const safe = mailSafeAuthor(author, job.author);
  const isSame = safe.name === author.name && safe.email === author.email;
  return isSame && safe.date === `@${author.date}`;
}

/** @returns the range of the copies, for git-format-patch(1). */
async function makeCopies(
  own: OwnRepository,
  commits: readonly ExportedCommit[],
  job: GuestJob,
): Promise<string> {
  const copies = commits.map((commit, index) => copyOf(commit, index === 0 ? job.base : "", job));
  await must(own.git, words("fast-import --quiet --force --date-format=raw"), {
    stdin: copies.join(""),
  });
  return `${job.base}..${COPIES}`;
}

/** A command of git-fast-import(1). */
function copyOf(commit: ExportedCommit, from: string, { author }: GuestJob): string {
  const message = mailSafeMessage(commit.message);
  const who = headerOf(mailSafeAuthor(commit.author, author));
  return [
    `commit ${COPIES}`,
    `author ${who}`,
    `committer ${headerOf({ name: "guardloop", email: "guardloop@localhost", date: nowInGit() })}`,
    `data ${Buffer.byteLength(message)}\n${message}`,
    ...(from === "" ? [] : [`from ${from}`]),
    `M 040000 ${commit.tree} ""\n\n`,
  ].join("\n");
}

/** Older than the base, they would make Git walk through all of the base's history. */
function nowInGit(): string {
  return `${Math.floor(Date.now() / 1000)} +0000`;
}

/** Whoever is configured as author need not be fit for a commit's header. */
function headerOf({ name, email, date }: Identity): string {
  return `${withoutMarks(name)} <${withoutMarks(email)}> ${date.replace(/^@/, "")}`;
}

function withoutMarks(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  return text.replaceAll(/[\u0000-\u001F<>]/g, "").trim();
}
