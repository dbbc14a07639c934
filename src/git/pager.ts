import type { HostEnvironment } from "../core/environment.ts";
import type { Principal } from "./principal.ts";

/**
 * The user's pager, chosen as Git does (git-var(1), GIT_PAGER): `GIT_PAGER`, `core.pager`, `PAGER`, `less`; the first
 * that is set counts, even when it is empty. `git var` itself cannot be asked, since our Git is told to use none.
 *
 * @returns a shell command line; undefined when none is wanted (`cat`, or empty).
 */
export async function pagerOf(
  { git }: Principal,
  { pager }: HostEnvironment,
): Promise<string | undefined> {
  const chosen = pager["GIT_PAGER"] ?? (await configured()) ?? pager["PAGER"] ?? "less";
  const line = chosen.trim();
  return line === "" || line === "cat" ? undefined : line;

  async function configured(): Promise<string | undefined> {
    const exit = await git.exec(["config", "--get", "core.pager"]);
    return exit.code === 0 ? exit.stdout.toString("utf8").replace(/\n$/, "") : undefined;
  }
}
