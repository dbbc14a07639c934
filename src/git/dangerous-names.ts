/**
 * Names that some file system takes for another one. Git refuses most of them by itself (core.protectHFS,
 * core.protectNTFS); they are checked here as well so that it does not depend on Git's version. Sources: Git's
 * path.c and utf8.c, CVE-2014-9390, CVE-2019-1352, CVE-2019-1353.
 */

/** Code points that HFS+ ignores in names. */
const HFS_IGNORED = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/** Files whose content Git obeys, and the short names that NTFS gives them: the beginning, or a hash's. */
const OBEYED = {
  ".gitmodules": ["gitmod", "gi7eba"],
  ".gitattributes": ["gitatt", "gi7d29"],
  ".gitignore": ["gitign", "gi250a"],
  ".mailmap": ["mailma", "maba30"],
} as const;

export type ObeyedName = keyof typeof OBEYED;

/**
 * The parts of a path on any file system: NTFS takes a backslash for a slash. A path that is not UTF-8 as a whole comes as
 * one character a byte, and a part of it can be: that is read both ways.
 */
function parts(path: string): readonly string[] {
  return path.split(/[/\\]/).flatMap(readings);
}

function readings(part: string): readonly string[] {
  const isBytes = /[\u0080-\u00FF]/.test(part) && !/[\u0100-\uFFFF]/.test(part);
  return isBytes ? [part, Buffer.from(part, "latin1").toString("utf8")] : [part];
}

/** Whether a component of the path is Git's own directory on some file system. */
export function hasGitDirectory(path: string): boolean {
  return parts(path).some((part) => {
    const plain = withoutIgnored(part);
    return plain === ".git" || /^(?:\.git|git~1)[. ]*(?:$|:)/.test(part.toLowerCase());
  });
}

/** Whether a component of the path is empty or leads elsewhere. */
export function leadsElsewhere(path: string): boolean {
  return path.split("/").some((part) => part === "" || part === "." || part === "..");
}

/** Which of the files that Git obeys a path is on some file system, whatever directory it is in. */
export function obeyedName(path: string): ObeyedName | undefined {
  const last = path.split(/[/\\]/).at(-1) ?? "";
  return readings(last)
    .map(obeyedAs)
    .find((name) => name !== undefined);
}

function obeyedAs(last: string): ObeyedName | undefined {
  const plain = withoutIgnored(last);
  const ntfs = last.toLowerCase().replace(/(?:[. ]*|:.*)$/u, "");
  for (const [name, shorts] of Object.entries(OBEYED))
    if (plain === name || ntfs === name || shorts.some((short) => isShortName(ntfs, short)))
      // The keys of a constant object are its names.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return name as ObeyedName;
  return undefined;
}

/** `gitmod~1`, or with more digits and fewer letters, eight characters at most. */
function isShortName(name: string, beginning: string): boolean {
  const [letters = "", digits] = name.split("~");
  return (
    digits !== undefined &&
    /^[1-9]\d*$/.test(digits) &&
    name.length <= 8 &&
    letters.length >= 2 &&
    beginning.startsWith(letters)
  );
}

function withoutIgnored(part: string): string {
  return part.replaceAll(HFS_IGNORED, "").toLowerCase();
}
