import { type Failure, fail } from "../../core/failures.ts";
import { LIMITS } from "../../core/limits.ts";
import { type Result, ok } from "../../core/result.ts";

/** What a mail would make Git do, counted before Git sees it. */
export interface MailSizes {
  /** Files of which the diff has a section. */
  readonly paths: number;
  readonly longestLineBytes: number;
  readonly addedTextBytes: number;
  /** Sum of what binary sections say they inflate to. */
  readonly declaredBinaryBytes: number;
}

export type SizeLimits = Readonly<
  Record<
    | "patchLineBytes"
    | "patchPaths"
    | "allPatchPaths"
    | "allAddedTextBytes"
    | "allDeclaredBinaryBytes",
    number
  >
>;

const LINE_FEED = 10;
const PLUS = 43;
const GIT_SECTION = Buffer.from("diff --git ");
const OLD_NAME = Buffer.from("--- ");
const NEW_NAME = Buffer.from("+++ ");

/** Counts in one pass over the lines. What is not certain is counted as more, never as less. */
export function measureMail(mail: Buffer): MailSizes {
  let gitSections = 0;
  let namePairs = 0;
  let longestLineBytes = 0;
  let addedTextBytes = 0;
  let afterOldName = false;
  for (let start = 0; start < mail.length;) {
    const feed = mail.indexOf(LINE_FEED, start);
    const end = feed === -1 ? mail.length : feed;
    longestLineBytes = Math.max(longestLineBytes, end - start);
    if (mail[start] === PLUS) addedTextBytes += end - start;
    const line = mail.subarray(start, Math.min(end, start + GIT_SECTION.length));
    if (startsWith(line, GIT_SECTION)) gitSections += 1;
    if (afterOldName && startsWith(line, NEW_NAME)) namePairs += 1;
    afterOldName = startsWith(line, OLD_NAME);
    start = end + 1;
  }
  return {
    // git-apply(1) takes sections without a `diff --git` line, too.
    paths: Math.max(gitSections, namePairs),
    longestLineBytes,
    addedTextBytes,
    declaredBinaryBytes: declaredBinaryBytes(mail),
  };
}

function startsWith(line: Buffer, text: Buffer): boolean {
  return line.subarray(0, text.length).equals(text);
}

/**
 * Sum of the sizes in `literal N` and `delta N` lines, read as generously as strtoul(3) does, which is what Git
 * does with them. A line of a text file begins with a blank, `+` or `-`.
 */
export function declaredBinaryBytes(mail: Buffer): number {
  let sum = 0;
  for (const match of mail.toString("latin1").matchAll(/^(?:literal|delta) [^\d\n]*(\d+)/gm))
    sum += Number(match[1]);
  return sum;
}

/** Refuses one mail that is larger than a limit allows, naming both numbers. */
export function refuseMailSizes(
  sizes: MailSizes,
  name: string,
  limits: SizeLimits = LIMITS,
): Result<void, Failure> {
  const where = `patches/${name}`;
  if (sizes.longestLineBytes > limits.patchLineBytes)
    return fail(
      "bad-patches",
      `${where} has a line of ${sizes.longestLineBytes} bytes; the limit is ${limits.patchLineBytes}.`,
    );
  if (sizes.paths > limits.patchPaths)
    return fail(
      "bad-patches",
      `${where} touches ${sizes.paths} paths; the limit is ${limits.patchPaths}.`,
    );
  return ok(undefined);
}

/** Refuses a series whose mails are larger together than a limit allows. */
export function refuseSeriesSizes(
  all: readonly MailSizes[],
  limits: SizeLimits = LIMITS,
): Result<void, Failure> {
  const sum = (read: (sizes: MailSizes) => number): number =>
    all.reduce((total, sizes) => total + read(sizes), 0);
  const totals = [
    ["touch", sum((one) => one.paths), "paths", limits.allPatchPaths],
    ["add", sum((one) => one.addedTextBytes), "bytes of text", limits.allAddedTextBytes],
    [
      "declare",
      sum((one) => one.declaredBinaryBytes),
      "bytes of binary content",
      limits.allDeclaredBinaryBytes,
    ],
  ] as const;
  for (const [verb, total, what, limit] of totals)
    if (total > limit)
      return fail(
        "bad-patches",
        `The ${all.length} patches ${verb} ${total} ${what} together; the limit is ${limit}.`,
      );
  return ok(undefined);
}
