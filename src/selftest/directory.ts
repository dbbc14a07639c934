import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import type { Engine } from "../engine/port.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { removeTree } from "../files/remove-tree.ts";
import { writeAtomic } from "../files/write-atomic.ts";
import { type Owner, mayBeAlive, ownerOf } from "../process/owner.ts";
import { stateId } from "../run/paths.ts";

/** Where selftests have their directories. Beside each stands a file `<id>.json` that names its owner. */
export function selftestsDirectory(stateDir: string): string {
  return join(stateDir, "selftest");
}

/** The state directory of the runs of one selftest. */
export function stateDirectoryIn(root: string): string {
  return join(root, "state");
}

/** A directory that belongs to this process; disposing of it removes it with everything in it. */
export interface OwnDirectory extends AsyncDisposable {
  readonly root: string;
}

/**
 * Makes the directory of one selftest. The owner is on disk before it, so a directory without an owner does not occur.
 */
export async function ownDirectory(
  env: HostEnvironment,
  id: string,
  engine: Engine,
): Promise<OwnDirectory> {
  const directory = selftestsDirectory(env.stateDir);
  await ensurePrivateDirectory(directory);
  const owner = ownerOf(process.pid, env.hostname);
  await writeAtomic(join(directory, `${id}.json`), JSON.stringify(owner));
  const root = join(directory, id);
  await ensurePrivateDirectory(root);
  return {
    root,
    [Symbol.asyncDispose]: () => removeSelftest(directory, id, engine),
  };
}

/** Removes what selftests have left whose process is proven dead. May be called again. */
export async function removeDead(env: HostEnvironment, engine: Engine): Promise<void> {
  const directory = selftestsDirectory(env.stateDir);
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((one) => one.endsWith(".json"))) {
    const owner = await readOwner(join(directory, name));
    if (owner !== undefined && mayBeAlive(owner, env.hostname)) continue;
    await removeSelftest(directory, name.slice(0, -".json".length), engine);
  }
}

async function removeSelftest(directory: string, id: string, engine: Engine): Promise<void> {
  const root = join(directory, id);
  const containers = await engine.list(stateId(stateDirectoryIn(root)));
  for (const { name } of containers.ok ? containers.value : []) await engine.remove(name);
  await removeTree(root);
  await rm(join(directory, `${id}.json`), { force: true });
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    // Our own file in a directory that only we can write.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(await readFile(path, "utf8")) as Owner;
  } catch {
    return undefined;
  }
}
