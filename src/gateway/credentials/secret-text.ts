import { type Result, err, ok } from "../../core/result.ts";

const MOST_CHARS = 16 * 1024;

/**
 * Takes the line feed at the end away and looks whether the rest can be sent as the value of an HTTP header.
 *
 * @returns what is wrong, to follow the name of what held it. It never repeats the text.
 */
export function secretIn(text: string): Result<string, string> {
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "") return err("is empty");
  if (/[\r\n]/.test(secret)) return err("holds more than one line");
  if (secret.trim() !== secret) return err("begins or ends with a space");
  if (secret.length > MOST_CHARS) return err("is too long for a credential");
  if (!/^[\x20-\x7E]+$/.test(secret))
    return err("holds characters that cannot be sent in a header (only printable ASCII can)");
  return ok(secret);
}
