import type { AddedLine } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

/** Characters that change how a line reads without being seen; sources: CVE-2021-42574 and Unicode UTS #55. */
const BIDI = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
/** Also line ends that only programs see, and letters without a shape, which are names to a compiler. */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- each is looked for by itself
  /[\u00AD\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200D\u2028\u2029\u2060-\u2065\u3164\uFEFF\uFFA0\u{E0000}-\u{E01EF}]/u;
/** Control characters but tab; a carriage return at the end of a line is a line ending. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/u;

/** Lines that read differently from what they are. */
export function hiddenCharacterFindings(lines: readonly AddedLine[]): readonly Finding[] {
  const pathsWith = (pattern: RegExp): readonly string[] => [
    ...new Set(
      lines.filter((one) => pattern.test(one.line.replace(/\r$/, ""))).map((one) => one.path),
    ),
  ];
  const bidi = pathsWith(BIDI);
  const invisible = pathsWith(INVISIBLE);
  const control = pathsWith(CONTROL);
  return [
    ...(bidi.length > 0
      ? [
          finding(
            "bidi-characters",
            "Added lines hold characters that turn the direction of text around.",
            bidi,
          ),
        ]
      : []),
    ...(invisible.length > 0
      ? [
          finding(
            "invisible-characters",
            "Added lines hold characters that are not seen.",
            invisible,
          ),
        ]
      : []),
    ...(control.length > 0
      ? [finding("control-characters", "Added lines hold control characters.", control)]
      : []),
  ];
}
