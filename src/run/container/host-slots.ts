import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Failure, fail } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { type HeldLock, takeLock } from "../../files/lock-file.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { type Owner, mayBeAlive, ownerOf } from "../../process/owner.ts";
import type { RunServices } from "../services.ts";

type SlotServices = Pick<RunServices, "env" | "signal" | "report">;

export interface SlotRequest {
  readonly spec: Pick<RunSpec, "runId" | "containersOnHost" | "repository">;
  /** After Ctrl-C: do not begin any more, or begin without a free slot, for work that has to be got out. */
  readonly onInterrupt: "fail" | "go-ahead";
}

/** What a slot's file says: the process that holds it, for which run. */
interface Holder extends Owner {
  readonly run: string;
  readonly repository: string;
}

const POLL_MS = 250;

/**
 * Acts while holding one of the slots for containers that this host has, over all runs, repositories and invocations
 * of the user. Waits for one, and says once for whom. A slot is a file in the state directory that names a living
 * process; one whose owner is provably dead is free. A run holds at most one, so runs cannot wait for each other.
 *
 * @returns `interrupted` when Ctrl-C came while it waited.
 */
export async function inContainerSlot<T>(
  services: SlotServices,
  request: SlotRequest,
  act: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  const slot = await waitForSlot(services, request);
  if (slot === "interrupted" && request.onInterrupt === "fail")
    return fail("interrupted", "The run was interrupted while it waited for a free container.");
  if (slot === "interrupted" || slot === "unlimited") return act();
  await using held = slot;
  const done = await act();
  // Named so that the slot is seen to be held until here.
  void held;
  return done;
}

async function waitForSlot(
  services: SlotServices,
  request: SlotRequest,
): Promise<HeldLock | "interrupted" | "unlimited"> {
  const { containersOnHost: limit, runId } = request.spec;
  // A record of an older version.
  if (limit === undefined) return "unlimited";
  const directory = slotDirectory(services.env.stateDir);
  await ensurePrivateDirectory(directory);
  for (let isFirstLook = true; ; isFirstLook = false) {
    const holders = await livingHolders(directory, services.env.hostname);
    // Counted over all files: another invocation may have been allowed more slots than this one.
    if (holders.length < limit) {
      const taken = await takeFirst(services, request, directory);
      if (taken !== undefined) return taken;
    }
    if (services.signal.aborted) return "interrupted";
    if (isFirstLook) {
      const text = waitingText(limit, await livingHolders(directory, services.env.hostname));
      services.report({ type: "notice", runId, text });
    }
    await delay(POLL_MS, undefined, { signal: services.signal }).catch(() => undefined);
  }
}

/** Undefined when others were quicker. */
async function takeFirst(
  { env }: SlotServices,
  { spec }: SlotRequest,
  directory: string,
): Promise<HeldLock | undefined> {
  const owner: Holder = {
    ...ownerOf(process.pid, env.hostname),
    run: spec.runId,
    repository: spec.repository.name,
  };
  for (let number = 1; number <= (spec.containersOnHost ?? 0); number += 1) {
    const lock = await takeLock(join(directory, String(number)), owner);
    if (!("heldBy" in lock)) return lock;
  }
  return undefined;
}

/** Holds a file for every slot in use. */
export function slotDirectory(stateDir: string): string {
  return join(stateDir, "slots");
}

async function livingHolders(directory: string, host: string): Promise<readonly Holder[]> {
  const names = (await readdir(directory)).filter((name) => /^\d+$/.test(name));
  const holders = await Promise.all(names.map((name) => readHolder(join(directory, name))));
  return holders.filter((one) => one !== undefined).filter((one) => mayBeAlive(one, host));
}

async function readHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  // Our own file in a directory that only we can write, made whole in one step.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return text === undefined ? undefined : (JSON.parse(text) as Holder);
}

function waitingText(limit: number, holders: readonly Holder[]): string {
  // Recovery holds a stale one for a moment, and for no run.
  const named = holders.filter((one) => "run" in one);
  const who = named.map((one) => `run ${one.run} of ${one.repository} (process ${one.pid})`);
  const slots = limit === 1 ? "The one container" : `All ${limit} containers`;
  const by = who.length === 0 ? "" : `, held by ${who.join(", ")}`;
  return `${slots} that this host takes at once (container.max_on_host) ${limit === 1 ? "is" : "are"} in use${by}; waiting for one.`;
}
