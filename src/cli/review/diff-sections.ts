/** One file's part of a diff, as `git diff-tree -p --text` prints it. */
export interface DiffSection {
  /** From `diff --git` up to the first hunk: names, modes, ids. */
  readonly header: readonly string[];
  /** Hunk heads (`@@`) and lines that begin with a space, `+`, `-` or a backslash. */
  readonly body: readonly string[];
}

/** More than this share of unreadable characters, and the content is no text to read. */
const UNREADABLE_SHARE = 0.1;
const UNREADABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B\u000C\u000E-\u001A\u001C-\u001F\uFFFD]/g;

/**
 * Takes a diff apart. A line of content always begins with a character of its own, so a file cannot pretend to be the
 * header of another one: `diff --git` at the beginning of a line is Git's.
 */
export function diffSections(diff: string): readonly DiffSection[] {
  const sections: { header: string[]; body: string[] }[] = [];
  for (const line of diff === "" ? [] : diff.split("\n")) {
    if (line.startsWith("diff --git ")) sections.push({ header: [line], body: [] });
    else {
      const section = sections.at(-1);
      if (section === undefined) continue;
      const where = line.startsWith("@@") || section.body.length > 0 ? "body" : "header";
      section[where].push(line);
    }
  }
  return sections;
}

/**
 * Whether the content can be read at all. Git goes by a single NUL byte, or by an attribute, and then shows nothing: a
 * branch could hide a script with either. Here it takes a content that is really not text.
 */
export function isReadable({ body }: DiffSection): boolean {
  const content = body.filter((line) => /^[+-]/.test(line)).join("");
  const unreadable = content.match(UNREADABLE)?.length ?? 0;
  return unreadable <= content.length * UNREADABLE_SHARE;
}
