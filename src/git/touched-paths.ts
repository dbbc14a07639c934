import { LIMITS } from "../core/limits.ts";

/**
 * The paths that a diff names, one character a byte and without their first component, as git-apply(1) takes them. It is a
 * guess for those who prepare for a patch: lines of a file's text that look like a header are among them, and what cannot
 * be read is left out. Git alone says what a patch changes.
 */
export function touchedPaths(mail: Buffer): ReadonlySet<string> {
  const paths = new Set<string>();
  const text = mail.toString("latin1");
  for (const [line] of text.matchAll(HEADER)) {
    if (paths.size >= MOST_PATHS) break;
    for (const name of namesIn(line)) {
      const path = plainPath(name);
      if (path !== undefined) paths.add(path);
    }
  }
  return paths;
}

/** More than a patch may touch are lines of text that look like headers; a path that is missing only makes Git be asked. */
const MOST_PATHS = 3 * LIMITS.patchPaths;

const HEADER = /^(?:diff --git |--- |\+\+\+ |rename from |rename to |copy from |copy to )[^\n]*/gm;

/** Renames and copies name their paths without a prefix. */
const WITHOUT_PREFIX = /^(?:rename|copy) (?:from|to) (.*?)\r?$/;

/** The names in such a line, without their quotes. */
export function namesIn(line: string): readonly string[] {
  const renamed = WITHOUT_PREFIX.exec(line)?.[1];
  if (renamed !== undefined) return [`a/${unquoted(renamed) ?? renamed}`];
  if (line.startsWith("diff --git ")) return bothNames(line.slice("diff --git ".length));
  const name = line.slice(4);
  return [unquoted(name) ?? name.split("\t", 1)[0] ?? ""];
}

/** `a/NAME b/NAME`: two different names have lines of their own below. */
function bothNames(text: string): readonly string[] {
  const [quoted] = QUOTED.exec(text) ?? [];
  if (quoted !== undefined) {
    const name = unquoted(quoted);
    return name === undefined ? [] : [name];
  }
  const line = text.replace(/\r$/, "");
  return line.length % 2 === 1 ? [line.slice(0, (line.length - 1) / 2)] : [];
}

const QUOTED = /^"(?:[^"\\]|\\.)*"/;

/** A name as Git quotes it: escapes of C, bytes in octal. Undefined where it is not quoted. */
function unquoted(text: string): string | undefined {
  const [quoted] = QUOTED.exec(text) ?? [];
  return quoted
    ?.slice(1, -1)
    .replaceAll(/\\([0-3][0-7]{2}|.)/g, (_, escape: string) =>
      escape.length === 3
        ? String.fromCodePoint(Number.parseInt(escape, 8))
        : (ESCAPES[escape] ?? escape),
    );
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** A name without its first component; undefined where what is left is not a plain path. */
export function plainPath(name: string): string | undefined {
  const slash = name.indexOf("/");
  const path = name.slice(slash + 1);
  return slash !== -1 && isPlainPath(path) ? path : undefined;
}

/** What can be asked for in a line of its own, and leads nowhere else. */
function isPlainPath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (path.length > LIMITS.pathBytes || /[\u0000-\u001F\u007F]/.test(path)) return false;
  const parts = path.split("/");
  return (
    parts.length <= LIMITS.pathDepth &&
    parts.every((part) => part !== "" && part !== "." && part !== "..")
  );
}
