/** Node's error code of a caught value (ENOENT, EEXIST, …), or `unknown`. */
export function errnoOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string")
    return error.code;
  return "unknown";
}
