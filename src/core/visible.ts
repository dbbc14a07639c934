/**
 * Characters that steer a terminal or turn text around: C0 and C1 controls, DEL, bidi controls, zero-width
 * characters, the tag block and variation selectors' supplement.
 */
const STEERING =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E01EF}]/gu;

/**
 * Makes text from outside harmless to print: every steering character becomes `<U+XXXX>`. Everything that reaches a
 * terminal, a commit message or a report from a container or a repository passes through here.
 *
 * @param lines `keep-lines` leaves line feeds and tabs, for text of several lines; `one-line` does not.
 */
export function visible(text: string, lines: "keep-lines" | "one-line"): string {
  return text.replaceAll(STEERING, (character) => {
    if (lines === "keep-lines" && (character === "\n" || character === "\t")) return character;
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}
