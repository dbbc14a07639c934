import { type Failure, fail } from "../core/failures.ts";
import { LIMITS } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { blobSizes, readBlobs } from "./blobs.ts";
import { hasGitDirectory, obeyedName } from "./dangerous-names.ts";
import { type Git, gitOutput } from "./git.ts";
import type { ChangedEntry } from "./tree-check.ts";

const NO_BLOB = /^0+$/;

/**
 * Reads the files among the changed entries that Git obeys, and refuses what has been used against Git itself. What was
 * in the file before is the user's own.
 */
export async function refuseObeyedFiles(
  git: Git,
  entries: readonly ChangedEntry[],
): Promise<Result<void, Failure>> {
  for (const entry of entries) {
    const name = obeyedName(entry.path);
    // Git reads .gitmodules at the top of a tree alone.
    if (name === ".gitmodules" && !entry.path.includes("/")) {
      const fine = await refuseModules(git, entry);
      if (!fine.ok) return fine;
    }
    if (name === ".gitattributes") {
      const fine = await refuseAttributes(git, entry);
      if (!fine.ok) return fine;
    }
  }
  return ok(undefined);
}

async function refuseModules(git: Git, entry: ChangedEntry): Promise<Result<void, Failure>> {
  const sizes = await blobSizes(git, [entry.newBlob]);
  if (!sizes.ok) return sizes;
  const size = sizes.value.get(entry.newBlob) ?? 0;
  if (size > LIMITS.gitmodulesBytes)
    return refuse(entry, `has ${size} bytes; the limit is ${LIMITS.gitmodulesBytes}`);
  const after = await configOf(git, entry.newBlob);
  if (!after.ok) return refuse(entry, `cannot be read: ${after.error.message}`);
  const before = NO_BLOB.test(entry.oldBlob) ? ok([]) : await configOf(git, entry.oldBlob);
  const known = new Set(before.ok ? before.value : []);
  for (const line of after.value) {
    const why = known.has(line) ? undefined : dangerIn(line);
    if (why !== undefined) return refuse(entry, why);
  }
  return ok(undefined);
}

/** Each variable as `key` or `key LF value`, read by Git itself; includes are not followed. */
async function configOf(git: Git, blob: string): Promise<Result<readonly string[], Failure>> {
  const listed = await gitOutput(git, [
    "config",
    `--blob=${blob}`,
    "--no-includes",
    "--null",
    "--list",
  ]);
  return listed.ok ? ok(listed.value.toString("utf8").split("\0").filter(Boolean)) : listed;
}

/**
 * What a line of .gitmodules would do to a Git without the fixes for CVE-2017-1000117, CVE-2018-11235, CVE-2018-17456,
 * CVE-2019-19604, CVE-2020-5260 and CVE-2025-48384.
 */
function dangerIn(line: string): string | undefined {
  const [key = "", ...rest] = line.split("\n");
  const value = rest.join("\n");
  const [, name, variable] = /^submodule\.(.*)\.([^.]+)$/s.exec(key) ?? [];
  if (name === undefined) return undefined;
  if (isBadPath(name))
    return `names a submodule ${JSON.stringify(name)}, which leads elsewhere or reads as an option`;
  if (variable === "path" && isBadPath(value))
    return `gives a submodule the path ${JSON.stringify(value)}, which leads elsewhere or reads as an option`;
  if (variable === "url" && isBadUrl(value))
    return `gives a submodule the URL ${JSON.stringify(value)}, which Git could take for an option or a program to run`;
  if (variable === "update" && value.startsWith("!"))
    return `has a submodule updated by a command of its own, ${JSON.stringify(value)}`;
  return undefined;
}

function isBadPath(path: string): boolean {
  return (
    path === "" ||
    /^[-/\\]|^[A-Za-z]:/.test(path) ||
    path.split(/[/\\]/).includes("..") ||
    hasControls(path) ||
    hasGitDirectory(path)
  );
}

function isBadUrl(url: string): boolean {
  return (
    url.startsWith("-") ||
    // A remote helper, such as ext::, which is a program to run.
    /^[A-Za-z0-9+.-]+::/.test(url) ||
    // A host that ssh would take for an option.
    /^[A-Za-z0-9+.-]+:\/\/(?:[^/@]*@)?-/.test(url) ||
    /^[^/:]*@-/.test(url) ||
    hasControls(url) ||
    /%0[ad]/i.test(url)
  );
}

function hasControls(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  return /[\u0000-\u001F\u007F]/.test(text);
}

async function refuseAttributes(git: Git, entry: ChangedEntry): Promise<Result<void, Failure>> {
  const contents = await readBlobs(
    git,
    [entry.newBlob, entry.oldBlob].filter((blob) => !NO_BLOB.test(blob)),
  );
  if (!contents.ok) return contents;
  const longest = longestLine(contents.value.get(entry.newBlob));
  const allowed = Math.max(
    LIMITS.attributesLineBytes,
    longestLine(contents.value.get(entry.oldBlob)),
  );
  if (longest <= allowed) return ok(undefined);
  return refuse(
    entry,
    `has a line of ${longest} bytes; the limit is ${LIMITS.attributesLineBytes}, and Git ignores longer ones`,
  );
}

function longestLine(content: Buffer | undefined): number {
  const lines = content?.toString("latin1").split("\n") ?? [];
  return lines.reduce((longest, line) => Math.max(longest, line.length), 0);
}

function refuse(entry: ChangedEntry, why: string): Result<never, Failure> {
  return fail("import-refused", `${JSON.stringify(entry.path)} ${why}.`);
}
