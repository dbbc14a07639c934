import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { declaredBinaryBytes } from "./mail-sizes.ts";

/**
 * Refuses mails that say something else than they seem to, before Git sees them: encoded, multipart or reflowed
 * bodies (the text would hide the change), and binary sections that declare more than the limit (a small patch can
 * inflate to gigabytes).
 */
export function refuseMail(
  mail: Buffer,
  name: string,
  declaredLimitBytes: number,
): Result<void, Failure> {
  if (!mail.subarray(0, 5).equals(Buffer.from("From ")))
    return fail("bad-patches", `patches/${name} does not begin like a mail from git format-patch.`);
  for (const [field, value] of contentFields(mail)) {
    if (field === "content-transfer-encoding" && !/^[78]bit$/.test(value))
      return fail("bad-patches", `patches/${name} has an encoded body (${value}).`);
    if (field === "content-type" && !/^text\/plain(; *charset="?(utf-8|us-ascii)"?)?$/.test(value))
      return fail("bad-patches", `patches/${name} is not plain text in UTF-8 (${value}).`);
  }
  const declared = declaredBinaryBytes(mail);
  if (declared > declaredLimitBytes)
    return fail(
      "bad-patches",
      `patches/${name} declares ${declared} bytes of binary content; the limit is ${declaredLimitBytes}.`,
    );
  return ok(undefined);
}

/**
 * Every `Content-…` field of the header, as git-mailinfo(1) reads it: a line that begins with a blank continues the
 * one before, names ignore case, and of a field that is there twice the last one counts, so all are looked at.
 */
function contentFields(mail: Buffer): readonly (readonly [field: string, value: string])[] {
  const end = /\r?\n\r?\n/.exec(mail.toString("latin1"))?.index ?? mail.length;
  const header = mail.subarray(0, end).toString("latin1").toLowerCase();
  const unfolded = header.replaceAll(/\r?\n[ \t]+/g, " ");
  return [...unfolded.matchAll(/^(content-[a-z-]+)[ \t]*:(.*)$/gm)].map(
    ([, field = "", value = ""]) => [field, value.trim()],
  );
}
