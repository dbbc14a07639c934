import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { EngineKind } from "../../core/run-spec.ts";
import type { History } from "../../history/port.ts";
import { type Owner, isRunning, mayBeAlive, ownerOf } from "../../process/owner.ts";
import { runDirectories } from "../paths.ts";

/**
 * Which engines may still hold containers of ours. Every process leaves a mark for an engine before it starts its first
 * container there; a mark goes when its process is dead and the engine was seen without any container of ours since. An
 * engine without a place for marks was never seen like that, so it may hold something.
 *
 * Marks need not survive a power failure: a run that was under way then is found by its record.
 */
const KINDS: readonly EngineKind[] = ["docker", "podman"];

/**
 * To be called before a container is started; may be called again. Where there is no state directory none is made: then
 * there is no place for marks either, and the engine counts as one that may hold something.
 */
export async function markEngine(
  env: HostEnvironment,
  kind: EngineKind,
): Promise<"marked" | "no place"> {
  if (!existsSync(env.stateDir)) return "no place";
  const owner = ownerOf(process.pid, env.hostname);
  const place = placeOf(env, kind);
  await mkdir(place, { recursive: true, mode: 0o700 });
  await writeFile(join(place, `${owner.pid}-${owner.startTime}`), JSON.stringify(owner), {
    mode: 0o600,
  });
  return "marked";
}

/**
 * The engines that a recovery of this repository has to ask. All of them where a run's owner has died, or where a run's
 * directory is not in the history; else those that are marked.
 */
export async function enginesThatMayHold(
  env: HostEnvironment,
  { history, repositoryId }: { readonly history: History; readonly repositoryId: string },
): Promise<readonly EngineKind[]> {
  const running = history.runsInState(["running"], repositoryId);
  if (running.some((run) => !mayBeAlive(run.owner, env.hostname))) return KINDS;
  const known = new Set(history.idsWithPrefix(""));
  if ((await runDirectories(env.stateDir)).some((runId) => !known.has(runId))) return KINDS;
  const marks = KINDS.map((kind) => marksOf(env, kind));
  return KINDS.filter((_, index) => marks[index] === undefined || marks[index].length > 0);
}

/** Marks of processes that are dead; to be read before the engine is asked what it holds. */
export function staleMarks(env: HostEnvironment, kind: EngineKind): readonly string[] {
  return (marksOf(env, kind) ?? []).filter((path) => isStale(path, env.hostname));
}

/** To be called when the engine was seen without any container of ours. */
export async function forgetMarks(
  env: HostEnvironment,
  kind: EngineKind,
  stale: readonly string[],
): Promise<void> {
  await mkdir(placeOf(env, kind), { recursive: true, mode: 0o700 });
  for (const path of stale) await rm(path, { force: true });
}

function placeOf({ stateDir }: HostEnvironment, kind: EngineKind): string {
  return join(stateDir, "engines", kind);
}

/**
 * Undefined where the engine has no place for marks yet. They are few and small, and read while a start has nothing to
 * wait for: each answer that would be waited for comes after everything else that is being started.
 */
function marksOf(env: HostEnvironment, kind: EngineKind): readonly string[] | undefined {
  const place = placeOf(env, kind);
  try {
    return readdirSync(place).map((name) => join(place, name));
  } catch {
    return undefined;
  }
}

function isStale(path: string, host: string): boolean {
  const written = readOrNothing(path);
  if (written === undefined) return false;
  const owner = parse(written);
  if (owner !== undefined) return !mayBeAlive(owner, host);
  // It may be in the middle of being written by the process that its name tells.
  return !isRunning(Number(/(\d+)-\d*$/.exec(path)?.[1]));
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function parse(text: string): Owner | undefined {
  try {
    // Our own file in a directory that only we can write.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}
