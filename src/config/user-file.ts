import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../core/errno.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { ConfigFile } from "./file-layer.ts";

/** At the repository's root; read from the principal HEAD, never from a working tree an agent could reach. */
export const REPOSITORY_FILE = "guardloop.toml";

/**
 * Reads the user's own settings, `config.toml` in the configuration directory.
 *
 * @returns undefined when there is none, `config-invalid` when it is there and cannot be read.
 */
export async function readUserFile(
  configDir: string,
): Promise<Result<ConfigFile | undefined, Failure>> {
  const path = join(configDir, "config.toml");
  try {
    return ok({ path, text: await readFile(path, "utf8") });
  } catch (error) {
    const reason = errnoOf(error);
    if (reason === "ENOENT" || reason === "ENOTDIR") return ok(undefined);
    return fail("config-invalid", `${path} cannot be read (${reason}).`);
  }
}
