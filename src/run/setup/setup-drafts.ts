import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import { isHeld } from "../../files/lock-file.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { DRAFT_END, setupLock, setupPlace } from "./setup-place.ts";

/** Removes results that a killed process had begun; one that is being made now has its repository's lock. May be called again. */
export async function removeSetupDrafts({
  stateDir,
  hostname,
}: Pick<HostEnvironment, "stateDir" | "hostname">): Promise<void> {
  const setups = join(stateDir, "setup");
  for (const repositoryId of await readdir(setups).catch(() => [])) {
    const { results } = setupPlace(setups, repositoryId);
    const names = await readdir(results).catch(() => []);
    const drafts = names.filter((name) => name.endsWith(DRAFT_END));
    if (drafts.length === 0 || (await isHeld(setupLock(stateDir, repositoryId), hostname)))
      continue;
    for (const name of drafts) await removeTree(join(results, name));
  }
}
