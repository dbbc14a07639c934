import { readFileSync } from "node:fs";

/** A file's text without the white space around it, or the error code of reading it. */
export function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    return codeOf(error);
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
