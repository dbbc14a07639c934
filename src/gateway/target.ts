/** What a request line asks for, once it is plain. */
export interface Target {
  /** Begins with a slash; letters, digits and `-._~:` between slashes, no empty part, no `.` or `..`. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

const LONGEST_TARGET = 2048;
/** Nothing that could be read in two ways: no per cent sign, no empty part, none that begins with a dot. */
const PATH = /^(?:\/[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*)+$/;
const QUERY_PART = /^([A-Za-z0-9_.$-]{1,64})=([A-Za-z0-9_.,~-]{0,256})$/;

/**
 * Reads the target of a request line as it came, byte by byte. What is not of the one plain form is undefined: absolute
 * forms, encoded bytes, `//`, `/../`, backslashes and fragments never reach an upstream in any reading.
 */
export function parseTarget(raw: string): Target | undefined {
  if (raw.length > LONGEST_TARGET) return undefined;
  const mark = raw.indexOf("?");
  const path = mark === -1 ? raw : raw.slice(0, mark);
  if (!PATH.test(path)) return undefined;
  if (mark === -1) return { path, query: [] };
  const query: [string, string][] = [];
  for (const part of raw.slice(mark + 1).split("&")) {
    const [, name, value] = QUERY_PART.exec(part) ?? [];
    if (name === undefined || value === undefined) return undefined;
    if (query.some(([known]) => known === name)) return undefined;
    query.push([name, value]);
  }
  return { path, query };
}

/** For the record: the target without its query, and the host that an absolute form names. Untrusted, bounded. */
export function shownTarget(
  raw: string,
  host: string,
): { readonly host: string; readonly path: string } {
  const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/?#]*)([^?#]*)/.exec(raw);
  if (absolute === null) return { host, path: raw.replace(/[?#].*$/s, "").slice(0, 200) };
  // What stands before an @ may be a password.
  const named = (absolute[1] ?? "").replace(/^.*@/s, "");
  return { host: named.slice(0, 200), path: (absolute[2] ?? "").slice(0, 200) };
}
