import type { Identity } from "../core/artifacts.ts";
import { LIMITS } from "../core/limits.ts";
import { strictUtf8 } from "./read-file.ts";

const IDENTITY = /^(.*?) ?<([^<>]*)> (\d{1,18} [+-]\d{4})$/;
const IDENTITY_CHARACTERS = 1024;

export interface CommitFacts {
  readonly tree: string;
  readonly author: Identity;
  readonly message: string;
  /** `plain`: there is no other header than tree, one parent, author and committer. */
  readonly headers: "plain" | "other";
}

/**
 * Takes a raw commit object apart.
 *
 * @returns undefined when author or message cannot be given exactly as text: not in the encoding they claim,
 * with a NUL, without a well-formed author line, or too long for the host.
 */
export function parseCommit(raw: Buffer): CommitFacts | undefined {
  const end = raw.indexOf("\n\n");
  if (end < 0 || raw.length - end > LIMITS.commitMessageBytes) return undefined;
  const headers = raw.subarray(0, end).toString("latin1").split("\n");
  const encoding = headerOf(headers, "encoding");
  const message = decodeAs(raw.subarray(end + 2), encoding);
  const author = decodeAs(Buffer.from(headerOf(headers, "author") ?? "", "latin1"), encoding);
  const tree = headerOf(headers, "tree");
  if (message === undefined || author === undefined || tree === undefined) return undefined;
  const identity = parseIdentity(author);
  if (identity === undefined || message.includes("\0")) return undefined;
  const names = headers.map((line) => line.split(" ", 1)[0]).join(" ");
  const isPlain = names === "tree parent author committer";
  return { tree, author: identity, message, headers: isPlain ? "plain" : "other" };
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  return headers.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}

function parseIdentity(author: string): Identity | undefined {
  const parts = IDENTITY.exec(author);
  if (parts === null || author.length > IDENTITY_CHARACTERS) return undefined;
  const [, name = "", email = "", date = ""] = parts;
  return { name, email, date };
}

function decodeAs(bytes: Buffer, encoding: string | undefined): string | undefined {
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return strictUtf8(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // An encoding that Node does not know, or bytes that are not in it.
    return undefined;
  }
}
