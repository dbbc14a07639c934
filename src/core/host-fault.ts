import { errnoOf } from "./errno.ts";
import { type Failure, type FailureCode, failure } from "./failures.ts";

interface Fault {
  readonly code: FailureCode;
  /** Completes the sentence "<place> …". */
  readonly says: string;
}

const NO_SPACE: Fault = { code: "disk-full", says: "could not be written: there is no space left" };
const DENIED: Fault = { code: "state-unusable", says: "may not be written" };
const DAMAGED: Fault = { code: "history-damaged", says: "is damaged" };

/** Codes of errno(3), and of SQLite (https://www.sqlite.org/rescode.html), whose extended codes begin with these. */
const FAULTS: readonly (readonly [RegExp, Fault])[] = [
  [/^(ENOSPC|SQLITE_FULL)$/, NO_SPACE],
  [/^EDQUOT$/, { code: "disk-full", says: "could not be written: your quota is used up" }],
  [/^EFBIG$/, { code: "disk-full", says: "could not be written: it would be larger than allowed" }],
  [/^(EROFS|SQLITE_READONLY)/, { code: "state-unusable", says: "is on a read-only file system" }],
  [/^(EACCES|EPERM|SQLITE_PERM|SQLITE_CANTOPEN)/, DENIED],
  [/^(EIO|SQLITE_IOERR)/, { code: "state-unusable", says: "could not be read or written" }],
  [/^(EMFILE|ENFILE)$/, { code: "state-unusable", says: "cannot be opened: too many files are" }],
  [
    /^SQLITE_BUSY/,
    { code: "history-busy", says: "is in use by another program, which does not let go of it" },
  ],
  [/^SQLITE_(CORRUPT|NOTADB)/, DAMAGED],
];

/**
 * What the machine refused, as a failure for people. Undefined for everything else that is thrown: that is a mistake of
 * ours, and is thrown on.
 */
export function hostFault(error: unknown): Failure | undefined {
  const found = FAULTS.find(([codes]) => codes.test(errnoOf(error)))?.[1];
  if (found === undefined || !(error instanceof Error)) return undefined;
  return failure(found.code, `${placeOf(error)} ${found.says} (${error.message}).`);
}

function placeOf(error: Error): string {
  if ("dest" in error && typeof error.dest === "string") return error.dest;
  if ("path" in error && typeof error.path === "string") return error.path;
  return errnoOf(error).startsWith("SQLITE_") ? "The history of runs" : "A file of guardloop's";
}

/** What programs say when a write of theirs was refused; strerror(3) in the C locale, and what Git says of an index. */
const PROGRAM_NO_SPACE = /No space left on device|Disk quota exceeded|Out of diskspace/i;

/** A failure of a program whose own words say that the disk is full gets the code for that; others stay as they are. */
export function withHostFault(found: Failure): Failure {
  const said = [found.message, ...found.details].find((line) => PROGRAM_NO_SPACE.test(line));
  if (said === undefined) return found;
  const { message, details } = found;
  return failure("disk-full", message, { details });
}
