import { lstat, readFile, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { ok } from "../../core/result.ts";
import { isHeld, takeLock, takerOf } from "../../files/lock-file.ts";
import { ownerOf } from "../../process/owner.ts";
import { runPaths } from "../paths.ts";
import { type HouseItem, type Survey, NOTHING } from "./item.ts";
import type { HouseServices } from "./services.ts";

type LockServices = Pick<HouseServices, "env" | "history">;

/** Locks of processes that are provably dead. They are in nobody's way, since whoever comes takes them over. */
export async function surveyLocks(services: LockServices): Promise<Survey> {
  const items: HouseItem[] = [];
  for (const { path, run, repository } of await allLocks(services)) {
    if ((await isRegularFile(path)) && !(await isHeld(path, services.env.hostname)))
      items.push({
        kind: "lock",
        what: path,
        run,
        repository,
        why: "the process that held it is gone",
        size: null,
        when: "any-time",
        remove: () => removeLock(services, path),
      });
  }
  return { ...NOTHING, items };
}

interface Lock {
  readonly path: string;
  readonly run: string | null;
  readonly repository: string | null;
}

async function allLocks({ env, history }: LockServices): Promise<readonly Lock[]> {
  const directory = join(env.stateDir, "locks");
  const names = await readdir(directory).catch(() => []);
  // The one of `gc` is taken over by the next `gc`, which would find itself.
  const locks: Lock[] = names
    .filter((name) => name !== "gc")
    .map((name) => ({
      path: join(directory, name),
      run: null,
      repository: null,
    }));
  for (const runId of await readdir(join(env.stateDir, "runs")).catch(() => [])) {
    const run = history.run(runId);
    // Recovery goes by the lock of a run that is running, or that the history does not know.
    if (run === undefined || run.state === "running") continue;
    const { busy } = runPaths(env.stateDir, runId);
    locks.push({ path: busy, run: runId, repository: run.topLevel });
  }
  return locks;
}

/** A lock with a process id behind its name was on its way; a real one is taken over and let go, as anybody would. */
async function removeLock({ env }: LockServices, path: string) {
  if (!(await isRegularFile(path))) return ok("kept" as const);
  if (takerOf(path) !== undefined) {
    if (await isHeld(path, env.hostname)) return ok("kept" as const);
    await unlink(path).catch(() => undefined);
    return ok("removed" as const);
  }
  const lock = await takeLock(path, ownerOf(process.pid, env.hostname));
  if ("heldBy" in lock) return ok("kept" as const);
  await lock[Symbol.asyncDispose]();
  return ok("removed" as const);
}

async function isRegularFile(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined);
  // Being written just now, it has no owner in it yet.
  return stat?.isFile() === true && (await readFile(path).catch(() => "")).length > 0;
}
