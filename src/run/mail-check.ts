import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";

/**
 * Refuses mails that say something else than they seem to, before Git sees them: encoded or multipart bodies (the
 * text would hide the change), and binary sections that declare more than the limit (a small patch can inflate to
 * gigabytes).
 */
export function refuseMail(
  mail: Buffer,
  name: string,
  declaredLimitBytes: number,
): Result<void, Failure> {
  const end = mail.indexOf("\n\n");
  const header = mail.subarray(0, end === -1 ? mail.length : end).toString("latin1");
  if (!mail.subarray(0, 5).equals(Buffer.from("From ")))
    return fail("bad-patches", `patches/${name} does not begin like a mail from git format-patch.`);
  const encoding = /^content-transfer-encoding:[ \t]*(\S+)/im.exec(header)?.[1]?.toLowerCase();
  if (encoding !== undefined && encoding !== "7bit" && encoding !== "8bit")
    return fail("bad-patches", `patches/${name} has an encoded body (${encoding}).`);
  if (/^content-type:[ \t]*multipart/im.test(header))
    return fail("bad-patches", `patches/${name} is a multipart mail.`);
  const declared = declaredBinaryBytes(mail);
  if (declared > declaredLimitBytes)
    return fail(
      "bad-patches",
      `patches/${name} declares ${declared} bytes of binary content; the limit is ${declaredLimitBytes}.`,
    );
  return ok(undefined);
}

/** Sum of the sizes in `literal N` and `delta N` lines; a line of a text file can only make it larger. */
function declaredBinaryBytes(mail: Buffer): number {
  let sum = 0;
  for (const match of mail.toString("latin1").matchAll(/^(?:literal|delta) (\d{1,15})$/gm))
    sum += Number(match[1]);
  return sum;
}
