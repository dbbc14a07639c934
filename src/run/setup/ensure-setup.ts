import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec, SetupSpec } from "../../core/run-spec.ts";
import type { HeldLock } from "../../files/lock-file.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { syncDirectory } from "../../files/write-atomic.ts";
import { listFiles } from "../../git/list-files.ts";
import { removeLater } from "../house/remove-later.ts";
import { inContainerSlot } from "../container/host-slots.ts";
import { waitForLock } from "../locked.ts";
import type { RunServices } from "../services.ts";
import { makeCaches } from "./cache-mounts.ts";
import { harvest } from "./harvest.ts";
import { runSetupCommands } from "./run-commands.ts";
import { makeSetupWorkspace, setupWorkspace } from "./setup-container.ts";
import { DRAFT_END, placeOf, resultDirectory, setupLock } from "./setup-place.ts";
import { type SetupManifest, type SetupResult, findResult, touchUsed } from "./setup-result.ts";

export interface ReadySetup {
  readonly how: "made" | "reused";
  readonly result: SetupResult;
}

const POLL_MS = 250;

/**
 * The result of a run's setup commands: one that is kept under its key, else what they make now. One process at a time
 * works for a repository; another one waits, and then takes what the first has made. May be called again after a crash.
 *
 * @returns undefined where the run has no setup.
 */
export async function ensureSetup(
  services: RunServices,
  spec: RunSpec,
): Promise<Result<ReadySetup | undefined, Failure>> {
  const { setup } = spec;
  if (setup === undefined) return ok(undefined);
  const kept = await keptResult(services, spec, setup);
  if (kept !== undefined) return ok(kept);
  const lock = await waitForSetup(services, spec);
  if (!lock.ok) return lock;
  await using held = lock.value;
  const made =
    (await keptResult(services, spec, setup)) ?? (await makeResult(services, spec, setup));
  // Named so that the lock is seen to be held until here.
  void held;
  return "ok" in made ? made : ok(made);
}

async function keptResult(
  services: RunServices,
  spec: RunSpec,
  setup: SetupSpec,
): Promise<ReadySetup | undefined> {
  const place = placeOf(services.paths, spec);
  const result = await findResult(place, setup);
  if (result === undefined) return undefined;
  // A cache may have been removed by itself; it is mounted all the same.
  await makeCaches(spec, services.paths);
  await touchUsed(place, setup, services.now());
  return { how: "reused", result };
}

function waitForSetup(
  services: RunServices,
  { runId, repository }: RunSpec,
): Promise<Result<HeldLock, Failure>> {
  const { env, signal } = services;
  return waitForLock(env, {
    path: setupLock(env.stateDir, repository.id),
    pollMs: POLL_MS,
    signal,
    waitsFor: "another setup",
    onWait(heldBy) {
      const text = `Another run (process ${heldBy}) is setting up this repository; waiting for it.`;
      services.report({ type: "notice", runId, text });
    },
  });
}

/** Nothing half done is found under the key: the result is made beside it and renamed when it is whole. */
async function makeResult(
  services: RunServices,
  spec: RunSpec,
  setup: SetupSpec,
): Promise<Result<ReadySetup, Failure>> {
  const { paths } = services;
  const place = placeOf(paths, spec);
  const directory = resultDirectory(place, setup);
  const draft = `${directory}${DRAFT_END}`;
  await removeLater(services, [paths.setup]);
  try {
    const manifest = await makeDraft(services, { spec, setup, draft });
    if (!manifest.ok) return manifest;
    // What is in its place could not be read as a result.
    await removeTree(directory);
    await rename(draft, directory);
    await syncDirectory(place.results);
    await touchUsed(place, setup, services.now());
    const result = { tree: join(directory, "tree"), manifest: manifest.value };
    return ok({ how: "made", result });
  } finally {
    await removeLater(services, [draft, paths.setup]);
  }
}

async function makeDraft(
  services: RunServices,
  at: { readonly spec: RunSpec; readonly setup: SetupSpec; readonly draft: string },
): Promise<Result<SetupManifest, Failure>> {
  const { spec, setup, draft } = at;
  const { paths } = services;
  const tracked = await listFiles(services.principal.git, spec.principalHead);
  if (!tracked.ok) return tracked;
  await mkdir(paths.setup, { mode: 0o700 });
  await makeCaches(spec, paths);
  const ready = await makeSetupWorkspace(services, spec, setup);
  if (!ready.ok) return ready;
  const ran = await inContainerSlot(services, { spec, onInterrupt: "fail" }, () =>
    runSetupCommands(services, spec, { setup, layers: ready.value }),
  );
  if (!ran.ok) return ran;
  await ensurePrivateDirectory(placeOf(paths, spec).results);
  await removeTree(draft);
  const { signal } = services;
  const workspace = setupWorkspace(paths);
  const now = services.now();
  return harvest({ spec, setup, workspace, tracked: tracked.value, now, signal }, draft);
}
