import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";

/**
 * Reads a file that the agent may have put there: regular files only, no symbolic link as last component, never
 * waits for a FIFO, at most `limitBytes`.
 *
 * @returns the bytes, or the end of a sentence that begins with the file's name.
 */
export function readBounded(path: string | Buffer, limitBytes: number): Result<Buffer, string> {
  let fd: number;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    return err(explain(errnoOf(error)));
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return err("is not a regular file");
    if (stat.size > limitBytes) return err(`is larger than ${limitBytes} bytes`);
    // One byte more than allowed, so that a file that grew meanwhile is noticed.
    const buffer = Buffer.alloc(stat.size + 1);
    const bytesRead = readSync(fd, buffer, 0, buffer.length, 0);
    if (bytesRead > stat.size) return err("was still being written");
    return ok(buffer.subarray(0, bytesRead));
  } catch (error) {
    return err(explain(errnoOf(error)));
  } finally {
    closeSync(fd);
  }
}

/** `directory`, `file`, `link` or `other`; `missing` when there is nothing. Follows no link. */
export function kindOf(path: string | Buffer): "directory" | "file" | "link" | "other" | "missing" {
  try {
    const stat = lstatSync(path);
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
