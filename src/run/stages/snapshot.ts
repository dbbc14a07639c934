import { copyFile, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { failure } from "../../core/failures.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { giveTo } from "../../files/ownership.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import {
  type SnapshotLayout,
  fillBaseStore,
  refreshIndex,
  writeGitDirectory,
  writeWorkspace,
} from "../../git/snapshot.ts";
import type { Failure } from "../../core/failures.ts";
import type { Lease } from "../../lease/port.ts";
import { type OverlayReport, copyOverlay } from "../overlay.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";
import { writeJob } from "./spec.ts";

export interface Snapshotted {
  readonly snapshot: { readonly overlayFiles: number; readonly keptOut: number };
}

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
  readonly lease: Lease;
}

/** Makes the throwaway repository the container writes to, then lets in what the overlay rules name. */
export const snapshotStage: Stage<Input, Snapshotted> = {
  name: "snapshot",
  async perform(services, input) {
    // A half-made snapshot of an attempt that was killed is not built upon.
    await removeSnapshot(services);
    const made = await makeSnapshot(services, input);
    return made.ok ? made : err(failure("snapshot-failed", made.error.message, made.error));
  },
  async observe(services) {
    const there = await lstat(services.paths.workspace).catch(() => undefined);
    return ok(there === undefined ? "absent" : "present");
  },
  async undo(services) {
    await removeSnapshot(services);
    return ok(undefined);
  },
};

async function makeSnapshot(
  services: RunServices,
  { spec, lease }: Input,
): Promise<Result<Snapshotted, Failure>> {
  const { paths } = services;
  const layout: SnapshotLayout = {
    program: services.gitProgram,
    env: services.env,
    storeDir: paths.store,
    workspaceDir: paths.workspace,
    indexFile: paths.baseIndex,
    base: spec.base,
    branch: spec.branch,
    storeInContainer: IN_CONTAINER.store,
  };
  const store = await fillBaseStore(services.principal.git, layout);
  if (!store.ok) return store;
  const written = await writeWorkspace(store.value, layout);
  if (!written.ok) return written;
  const overlay = await copyOverlay({
    program: services.gitProgram,
    env: services.env,
    sources: [lease.path, services.principal.topLevel],
    include: spec.overlay.include,
    target: paths.workspace,
  });
  if (!overlay.ok) return overlay;
  const overlayPaths = overlay.value.copied.map((file) => file.path);
  await mkdir(paths.outbox, { recursive: true, mode: 0o700 });
  await writeGitDirectory(layout, overlayPaths);
  const owner = { uid: spec.container.uid, gid: spec.container.gid };
  giveTo(paths.workspace, owner);
  giveTo(paths.outbox, owner);
  const refreshed = await refreshIndex(store.value, layout);
  if (!refreshed.ok) return refreshed;
  await copyFile(paths.baseIndex, join(paths.workspace, ".git/index"));
  giveTo(join(paths.workspace, ".git"), owner);
  await writeReport(services, overlay.value);
  await writeJob(paths, spec, overlayPaths);
  return ok({
    snapshot: { overlayFiles: overlay.value.copied.length, keptOut: overlay.value.keptOut.length },
  });
}

async function writeReport(services: RunServices, overlay: OverlayReport): Promise<void> {
  const report = { version: 1, ...overlay };
  await writeAtomic(services.paths.snapshotManifest, `${JSON.stringify(report, null, 2)}\n`);
}

/** Removes everything the container could write to, and the store it read from. */
export async function removeSnapshot(services: Pick<RunServices, "paths">): Promise<void> {
  const { paths } = services;
  for (const directory of [paths.workspace, paths.store, paths.outbox]) await removeTree(directory);
}
