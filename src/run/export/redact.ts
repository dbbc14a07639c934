import { secretInText } from "../../policy/secrets.ts";

/** A credential that was given to the run. */
export interface Credential {
  readonly name: string;
  readonly value: string;
}

/** Shorter values stand in too many places that mean something else. */
const SHORTEST = 6;
/** What stands between spaces and signs in logs, JSON and shell text. */
const WORD = /[^\s"'`,;()<>{}[\]\\=]+/g;

/** With its lines as they are, or escaped in JSON; one that is cut off reaches to the end. */
const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[^]){0,20000}(?:-----END[A-Z ]{0,50}-----)?/g;

/**
 * Replaces credentials by what they are called: the values in use wherever they stand, also escaped as in JSON, and
 * whatever has a known form of secret. Works on bytes; what is not a secret stays as it is.
 */
export function redact(bytes: Buffer, credentials: readonly Credential[]): Buffer {
  // Every byte is one character: nothing is lost on the way, whatever the encoding was.
  let text = bytes.toString("latin1");
  for (const { name, value } of credentials.filter((one) => one.value.length >= SHORTEST))
    for (const form of new Set([value, JSON.stringify(value).slice(1, -1)]))
      text = text.replaceAll(latin1(form), `[redacted: ${name}]`);
  text = text.replaceAll(PRIVATE_KEY, "[redacted: a private key]");
  if (secretInText(text) !== undefined) text = text.split("\n").map(withoutKnownForms).join("\n");
  return Buffer.from(text, "latin1");
}

function latin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** The word that is the secret, where one is; else the whole line. */
function withoutKnownForms(line: string): string {
  const what = secretInText(line);
  if (what === undefined) return line;
  const words = line.replaceAll(WORD, (word) => {
    const kind = secretInText(word);
    return kind === undefined ? word : `[redacted: ${kind}]`;
  });
  return secretInText(words) === undefined ? words : `[redacted: ${what}]`;
}
