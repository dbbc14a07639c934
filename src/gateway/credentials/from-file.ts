import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/errno.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { visible } from "../../core/visible.ts";
import { secretIn } from "./secret-text.ts";

const MOST_BYTES = 64 * 1024;

export interface SecretFile {
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

/** The path with HOME in place of `~`. */
export function fromHome(path: string, home: string): string {
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

/**
 * Reads a file of the user's own. A symbolic link is followed: it is theirs. A FIFO is not waited for.
 *
 * @returns what is wrong, to follow the file's name.
 */
export async function readSecretFile(path: string): Promise<Result<SecretFile, string>> {
  let handle: FileHandle | undefined;
  try {
    const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
    handle = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    const stat = await handle.stat();
    if (!stat.isFile()) return err("is not a regular file");
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MOST_BYTES) return err("is larger than 64 KiB");
    return ok({ text: buffer.toString("utf8", 0, bytesRead), mode: stat.mode & 0o777 });
  } catch (error) {
    const reason = errnoOf(error);
    if (reason === "ENOENT" || reason === "ENOTDIR") return err("is not there");
    return err(`cannot be read (${reason})`);
  } finally {
    await handle?.close();
  }
}

/** The one line of a file. `onNotice` gets a sentence where others than its owner can read it. */
export async function secretFromFile(
  path: string,
  at: { readonly home: string; readonly onNotice: (sentence: string) => void },
): Promise<Result<string, string>> {
  const shown = visible(path, "one-line");
  const file = await readSecretFile(fromHome(path, at.home));
  if (!file.ok) return err(`${shown} ${file.error}`);
  const secret = secretIn(file.value.text);
  if (!secret.ok) return err(`${shown} ${secret.error}`);
  if ((file.value.mode & 0o044) !== 0)
    at.onNotice(
      `Others can read ${shown}, which holds a credential (mode ${file.value.mode.toString(8)}); run chmod 600 on it.`,
    );
  return secret;
}
