import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";

/** Why a file from a container was not read. */
export type Unreadable =
  | { readonly kind: "missing" }
  | { readonly kind: "not-a-regular-file" }
  | { readonly kind: "hard-linked" }
  | { readonly kind: "too-large"; readonly limitBytes: number }
  | { readonly kind: "unreadable"; readonly reason: string };

/**
 * Reads a file that a container may have written. Follows no symbolic link in the last component, opens no
 * FIFO, socket or device for long (O_NONBLOCK, then fstat), and reads at most `limitBytes`. The caller makes sure
 * that the directories above are real ones.
 */
export async function readUntrusted(
  path: string | Buffer,
  limitBytes: number,
): Promise<Result<Buffer, Unreadable>> {
  let handle: FileHandle;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
    handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    return err(openError(errnoOf(error)));
  }
  try {
    return await readRegular(handle, limitBytes);
  } catch (error) {
    return err({ kind: "unreadable", reason: errnoOf(error) });
  } finally {
    await handle.close();
  }
}

async function readRegular(
  handle: FileHandle,
  limitBytes: number,
): Promise<Result<Buffer, Unreadable>> {
  const stat = await handle.stat();
  if (!stat.isFile()) return err({ kind: "not-a-regular-file" });
  if (stat.nlink !== 1) return err({ kind: "hard-linked" });
  if (stat.size > limitBytes) return err({ kind: "too-large", limitBytes });
  const buffer = Buffer.alloc(stat.size);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return ok(buffer.subarray(0, filled));
}

function openError(code: string): Unreadable {
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "missing" };
  // ELOOP: a symbolic link. ENXIO: a socket, or a FIFO nobody writes to.
  if (code === "ELOOP" || code === "ENXIO") return { kind: "not-a-regular-file" };
  return { kind: "unreadable", reason: code };
}

/** Says in words why a file was not read, to follow the file's name. */
export function explainUnreadable(why: Unreadable): string {
  switch (why.kind) {
    case "missing":
      return "is missing";
    case "not-a-regular-file":
      return "is not a regular file";
    case "hard-linked":
      return "has more than one hard link";
    case "too-large":
      return `is larger than ${why.limitBytes} bytes`;
    case "unreadable":
      return `cannot be read (${why.reason})`;
  }
}
