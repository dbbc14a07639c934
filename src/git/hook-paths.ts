import { readdir, realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { Principal } from "./principal.ts";

/** Which value of a key counts for Git by itself, without the settings that guardloop passes on the command line. */
const SCOPES = new Set(["system", "global", "local", "worktree"]);

/**
 * Where in the user's own work tree Git finds hooks: the directory that `core.hooksPath` names when it lies in the
 * tree, and whatever in the tree the repository's hook directory links to.
 *
 * @returns paths from the top of the work tree with `/`; `""` stands for the top itself. Empty in the usual case.
 */
export async function hookPathsInTree(
  principal: Pick<Principal, "git" | "topLevel" | "commonDir">,
): Promise<readonly string[]> {
  const { topLevel, commonDir } = principal;
  const configured = await hooksPath(principal);
  const directory =
    configured === undefined ? join(commonDir, "hooks") : resolve(topLevel, configured);
  const entries = configured === undefined ? await readdir(directory).catch(() => []) : [];
  const candidates = [directory, ...entries.map((name) => join(directory, name))];
  const top = await realpath(topLevel);
  const own = await realpath(commonDir);
  const found = new Set<string>();
  for (const candidate of candidates) {
    // A directory that is not there yet is one that the branch may bring.
    const real = await realpath(candidate).catch(() => candidate);
    if (isBelow(own, real)) continue;
    for (const base of [top, topLevel])
      if (isBelow(base, real)) found.add(relative(base, real).split(sep).join("/"));
  }
  return [...found];
}

async function hooksPath({ git }: Pick<Principal, "git">): Promise<string | undefined> {
  const asked = ["config", "--show-scope", "-z", "--type=path", "--get-all", "core.hooksPath"];
  const exit = await git.exec(asked);
  if (exit.code !== 0) return undefined;
  const fields = exit.stdout.toString("utf8").split("\0");
  let value: string | undefined;
  for (let index = 0; index + 1 < fields.length; index += 2)
    if (SCOPES.has(fields[index] ?? "")) value = fields[index + 1];
  return value === "" ? undefined : value;
}

function isBelow(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}${sep}`);
}
