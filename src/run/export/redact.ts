import { secretsIn } from "../../policy/secret-scan.ts";
import { needlesOf } from "../../policy/secret-values.ts";
import type { SecretInUse } from "../review/secrets-in-use.ts";

/** Shorter values stand in too many places that mean something else. */
const SHORTEST = 6;
/** Scanned at a time, in whole lines. */
const PIECE_CHARS = 1024 * 1024;

/** Keys of many lines, which may also be escaped in JSON; one that is cut off reaches to the end. */
const KEY_BLOCKS: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    "a private key",
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[^]){0,20000}(?:-----END[A-Z ]{0,50}-----)?/g,
  ],
  [
    "a PuTTY key",
    /PuTTY-User-Key-File-\d: (?:(?!Private-MAC: )[^]){0,20000}(?:Private-MAC: [0-9a-f]{0,128})?/g,
  ],
];

/** What to look for, and what to write in its place. */
export interface Redaction {
  readonly text: string;
  readonly marker: string;
}

/** Every way in which values in use may be written down, the longest first: a short one may be a part of it. */
export function redactionsOf(secrets: readonly SecretInUse[]): readonly Redaction[] {
  const forms = secrets
    .filter(({ value }) => value.length >= SHORTEST)
    .flatMap(({ name, value }) =>
      [{ text: value, form: "" }, ...needlesOf(value)].map(({ text, form }) => ({
        text,
        marker: markerOf(`${name}${form}`),
      })),
    );
  const markers = new Map<string, string>();
  for (const { text, marker } of forms)
    for (const written of escapedForms(text))
      if (!markers.has(written)) markers.set(written, marker);
  const all = Array.from(markers, ([text, marker]) => ({ text: latin1(text), marker }));
  return all.toSorted((a, b) => b.text.length - a.text.length);
}

/** As it is, in JSON, and in JSON within JSON. */
function escapedForms(text: string): readonly string[] {
  const once = JSON.stringify(text).slice(1, -1);
  return [text, once, JSON.stringify(once).slice(1, -1)];
}

/** A name may come from a path, and the marker may come to stand in JSON. */
function markerOf(what: string): string {
  return `[redacted: ${what.replaceAll(/[^\w ,./-]/g, "_")}]`;
}

/**
 * Replaces credentials by what they are called: the values in use wherever they stand, and whatever has a known form
 * of secret. Works on bytes; what is not a secret stays as it is.
 *
 * @param file.path some forms are only known in files of a certain ending.
 */
export async function redact(
  file: { readonly path: string; readonly bytes: Buffer },
  redactions: readonly Redaction[],
): Promise<Buffer> {
  // Every byte is one character: nothing is lost on the way, whatever the encoding was.
  let text = file.bytes.toString("latin1");
  for (const { text: value, marker } of redactions) text = text.replaceAll(value, () => marker);
  for (const [what, pattern] of KEY_BLOCKS) text = text.replaceAll(pattern, () => markerOf(what));
  const pieces: string[] = [];
  for (const piece of piecesOf(text)) pieces.push(await withoutKnownForms(file.path, piece));
  return Buffer.from(pieces.join(""), "latin1");
}

function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at + PIECE_CHARS);
    const end = newline === -1 ? text.length : newline + 1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** The word that is the secret; where something is left of it then, the whole line. */
async function withoutKnownForms(path: string, piece: string): Promise<string> {
  let text = piece;
  for (const extent of [wordAt, lineAt]) {
    const scanned = unescaped(text);
    const found = await secretsIn({ path, text: scanned });
    const known = found.filter((one) => one.certainty === "known");
    if (known.length === 0) break;
    const parts: string[] = [];
    let at = 0;
    for (const { what, offset } of known) {
      const [start, end] = extent(scanned, offset);
      if (start < at) continue;
      parts.push(text.slice(at, start), markerOf(what));
      at = end;
    }
    text = parts.join("") + text.slice(at);
  }
  return text;
}

/**
 * JSON's escapes as what they stand for, at the same offsets: behind the letter of `\n` no token would be seen to
 * begin.
 */
function unescaped(text: string): string {
  return text
    .replaceAll(/\\[nrt]/g, "  ")
    .replaceAll(/\\"(?=\w)/g, ' "')
    .replaceAll(String.raw`\"`, '" ');
}

type Extent = readonly [start: number, end: number];

/** `token: "`, `_authToken=`: kept, so that one sees what stood there. */
const NAME = /[\w-]{1,60}["'`]?\s{0,8}(?::=|=>|[:=])\s{0,8}["'`]?/y;
const WORD = /[^\s"'`<>\\]*/y;
const SHORTEST_WORD = 8;

function wordAt(text: string, offset: number): Extent {
  const value = endOf(NAME, text, offset);
  const end = endOf(WORD, text, value);
  // Base64 may end with signs of equality, so what looked like a name was the secret.
  return end - value < SHORTEST_WORD ? [offset, endOf(WORD, text, offset)] : [value, end];
}

function endOf(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

function lineAt(text: string, offset: number): Extent {
  const end = text.indexOf("\n", offset);
  return [text.lastIndexOf("\n", offset) + 1, end === -1 ? text.length : end];
}
