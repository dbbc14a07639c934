import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";

/**
 * Reads a file that the agent may have put there: regular files only, no symbolic link as last component, never
 * waits for a FIFO, at most `limitBytes`.
 *
 * @returns the bytes, or the end of a sentence that begins with the file's name.
 */
export async function readBounded(
  path: string | Buffer,
  limitBytes: number,
): Promise<Result<Buffer, string>> {
  let handle: FileHandle;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
    handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    return err(explain(errnoOf(error)));
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return err("is not a regular file");
    if (stat.size > limitBytes) return err(`is larger than ${limitBytes} bytes`);
    // One byte more than allowed, so that a file that grew meanwhile is noticed.
    const buffer = Buffer.alloc(stat.size + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > stat.size) return err("was still being written");
    return ok(buffer.subarray(0, bytesRead));
  } catch (error) {
    return err(explain(errnoOf(error)));
  } finally {
    await handle.close();
  }
}

/** `directory`, `file`, `link` or `other`; `missing` when there is nothing. Follows no link. */
export async function kindOf(
  path: string | Buffer,
): Promise<"directory" | "file" | "link" | "other" | "missing"> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return "link";
    if (stat.isDirectory()) return "directory";
    return stat.isFile() ? "file" : "other";
  } catch {
    return "missing";
  }
}

/** Decodes UTF-8 and refuses anything that is not UTF-8. Needs no ICU, unlike a fatal TextDecoder. */
export function strictUtf8(bytes: Buffer): string | undefined {
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}

function explain(code: string): string {
  if (code === "ENOENT" || code === "ENOTDIR") return "is missing";
  if (code === "ELOOP" || code === "ENXIO") return "is not a regular file";
  return `cannot be read (${code})`;
}
