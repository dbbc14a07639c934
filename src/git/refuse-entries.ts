import { type Failure, fail } from "../core/failures.ts";
import { LIMITS } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { hasGitDirectory, leadsElsewhere, obeyedName } from "./dangerous-names.ts";
import type { ChangedEntry } from "./tree-check.ts";

const GITLINK = "160000";
const SYMLINK = "120000";
const ALLOWED_MODES = new Set(["100644", "100755", SYMLINK]);

/** Refuses entries that no agent has an honest reason to make and that are dangerous to check out. */
export function refuseEntries(entries: readonly ChangedEntry[]): Result<void, Failure> {
  for (const entry of entries) {
    const why = wrongWith(entry);
    if (why !== undefined) return fail("import-refused", `${shown(entry.path)} ${why}.`);
  }
  return ok(undefined);
}

function wrongWith(entry: ChangedEntry): string | undefined {
  if (entry.newMode === GITLINK)
    return "is a gitlink (a nested repository), whose content would be lost";
  if (!ALLOWED_MODES.has(entry.newMode)) return `has the mode ${entry.newMode}`;
  const obeyed = entry.newMode === SYMLINK ? obeyedName(entry.path) : undefined;
  if (obeyed !== undefined)
    return `is a symbolic link that some file system takes for ${obeyed}, which Git obeys`;
  // A name that the repository has had is the user's own.
  return entry.status === "A" ? wrongWithName(entry) : undefined;
}

function wrongWithName({ path, utf8 }: ChangedEntry): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (/[\u0000-\u001F\u007F]/.test(path)) return "is a new name with a control character in it";
  if (leadsElsewhere(path)) return "is a path that leads elsewhere";
  if (hasGitDirectory(path)) return "is a path into what some file system takes for .git";
  const components = path.split("/");
  const bytes = (text: string): number =>
    Buffer.byteLength(text, utf8 === "valid" ? "utf8" : "latin1");
  const longest = Math.max(...components.map(bytes));
  if (longest > LIMITS.pathComponentBytes)
    return `has a name of ${longest} bytes in it; the limit is ${LIMITS.pathComponentBytes}`;
  if (bytes(path) > LIMITS.pathBytes)
    return `is a path of ${bytes(path)} bytes; the limit is ${LIMITS.pathBytes}`;
  if (components.length > LIMITS.pathDepth)
    return `is a path of ${components.length} levels; the limit is ${LIMITS.pathDepth}`;
  return undefined;
}

const SHOWN_CHARACTERS = 200;

function shown(path: string): string {
  const text = JSON.stringify(path);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…"`;
}
