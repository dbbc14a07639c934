/** What the first bytes of a TLS connection say; see RFC 8446, sections 4.1.2 and 5.1. */
export type Hello =
  | { readonly kind: "incomplete" }
  /** The name in it; a program says at most one (RFC 6066, section 3). */
  | { readonly kind: "hello"; readonly serverName: string }
  /** Completes "the connection …". */
  | { readonly kind: "refused"; readonly why: string };

/** More than any program sends, post-quantum keys and a session ticket included. */
export const MOST_HELLO_BYTES = 16 * 1024;

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0x0000;
const HOST_NAME = 0;
/** Encrypted Client Hello (RFC 9849): the name that counts would be in the part that cannot be read. */
const ENCRYPTED_HELLO = 0xfe0d;
/** The same in its drafts. */
const ENCRYPTED_HELLO_DRAFTS = new Set([0xfe08, 0xfe09, 0xfe0a, 0xfe0b, 0xfe0c]);

const NOT_TLS = { kind: "refused", why: "does not begin with a TLS handshake" } as const;
const NO_NAME = {
  kind: "refused",
  why: "does not say in its TLS handshake which host it is for",
} as const;
const TWO_NAMES = { kind: "refused", why: "names several hosts in its TLS handshake" } as const;
const HIDDEN = { kind: "refused", why: "hides in its TLS handshake which host it is for" } as const;

/** Reads the name out of a ClientHello, which may lie in several records. Never answers, decrypts nothing. */
export function readHello(bytes: Buffer): Hello {
  const handshake = handshakeOf(bytes);
  if (handshake === "not-tls") return NOT_TLS;
  const [type] = handshake;
  if (type === undefined || handshake.length < 4)
    return type === undefined || type === CLIENT_HELLO ? { kind: "incomplete" } : NOT_TLS;
  if (type !== CLIENT_HELLO) return NOT_TLS;
  const length = handshake.readUIntBE(1, 3);
  if (length > MOST_HELLO_BYTES)
    return { kind: "refused", why: "begins with too long a handshake" };
  if (handshake.length < 4 + length) return { kind: "incomplete" };
  try {
    return nameIn(extensionsOf(reader(handshake.subarray(4, 4 + length))));
  } catch (error) {
    if (error instanceof RangeError) return NOT_TLS;
    throw error;
  }
}

/** The handshake bytes of all records that are there. */
function handshakeOf(bytes: Buffer): Buffer | "not-tls" {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== HANDSHAKE_RECORD) return "not-tls";
    // 3, and then 1 to 3 in every version there is.
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return "not-tls";
    if (at + 5 > bytes.length) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 2 ** 14) return "not-tls";
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
    // What follows on a whole hello is none of ours.
    const soFar = Buffer.concat(parts);
    if (soFar.length >= 4 && soFar.length >= 4 + soFar.readUIntBE(1, 3)) return soFar;
  }
  return Buffer.concat(parts);
}

type Extensions = readonly { readonly type: number; readonly body: Buffer }[];

function extensionsOf(hello: Reader): Extensions {
  // legacy_version and random.
  hello.take(2 + 32);
  // legacy_session_id, cipher_suites, legacy_compression_methods.
  hello.vector(1);
  hello.vector(2);
  hello.vector(1);
  if (hello.isAtEnd()) return [];
  const list = reader(hello.vector(2));
  if (!hello.isAtEnd()) throw new RangeError("bytes behind the extensions");
  const found: { type: number; body: Buffer }[] = [];
  while (!list.isAtEnd()) found.push({ type: list.number(2), body: list.vector(2) });
  return found;
}

function nameIn(extensions: Extensions): Hello {
  if (extensions.some(({ type }) => type === ENCRYPTED_HELLO || ENCRYPTED_HELLO_DRAFTS.has(type)))
    return HIDDEN;
  const said = extensions.filter(({ type }) => type === SERVER_NAME);
  const [only] = said;
  if (only === undefined) return NO_NAME;
  if (said.length > 1) return TWO_NAMES;
  const body = reader(only.body);
  const names = reader(body.vector(2));
  if (!body.isAtEnd()) return NOT_TLS;
  const type = names.number(1);
  const serverName = names.vector(2);
  if (!names.isAtEnd()) return TWO_NAMES;
  if (type !== HOST_NAME || serverName.length === 0) return NO_NAME;
  return { kind: "hello", serverName: serverName.toString("latin1") };
}

interface Reader {
  readonly take: (length: number) => Buffer;
  readonly number: (bytes: 1 | 2) => number;
  /** Bytes behind their own length. */
  readonly vector: (lengthBytes: 1 | 2) => Buffer;
  readonly isAtEnd: () => boolean;
}

/** @throws {RangeError} beyond the end. */
function reader(bytes: Buffer): Reader {
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError("beyond the end");
    at += length;
    return bytes.subarray(at - length, at);
  };
  const number = (length: 1 | 2): number => take(length).readUIntBE(0, length);
  return {
    take,
    number,
    vector: (lengthBytes) => take(number(lengthBytes)),
    isAtEnd: () => at === bytes.length,
  };
}
