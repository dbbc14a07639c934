import { lstat, mkdir } from "node:fs/promises";
import { failure } from "../../core/failures.ts";
import type { DiskUse, RunSpec } from "../../core/run-spec.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { giveTo } from "../../files/ownership.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import type { Failure } from "../../core/failures.ts";
import type { Lease } from "../../lease/port.ts";
import { firstDiskUse } from "../container/disk-watch.ts";
import { keepAside, letIn } from "../snapshot/let-in.ts";
import type { OverlayReport } from "../snapshot/overlay.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";
import { ensureSetup } from "../setup/ensure-setup.ts";
import { type PlacedSetup, placeResult } from "../setup/place-result.ts";
import { makeThrowaway } from "../snapshot/throwaway.ts";
import { removeSnapshot } from "../snapshot/remove-snapshot.ts";
import type { WorkTree } from "../snapshot/work-tree.ts";
import { writeJob } from "./spec.ts";

export interface Snapshotted {
  readonly snapshot: {
    readonly overlayFiles: number;
    readonly keptOut: number;
    /** What it takes on the disk before the agent starts. */
    readonly first: DiskUse;
  };
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
    await removeSnapshot(services, input.spec);
    const made = await makeSnapshot(services, input);
    if (made.ok || made.error.code === "lease-lost") return made;
    return err(failure("snapshot-failed", made.error.message, made.error));
  },
  async observe(services) {
    const there = await lstat(services.paths.workspace).catch(() => undefined);
    return ok(there === undefined ? "absent" : "present");
  },
  async undo(services, { spec }) {
    await removeSnapshot(services, spec);
    return ok(undefined);
  },
};

async function makeSnapshot(
  services: RunServices,
  { spec, lease }: Input,
): Promise<Result<Snapshotted, Failure>> {
  const { paths } = services;
  await mkdir(paths.outbox, { recursive: true, mode: 0o700 });
  giveTo(paths.outbox, spec.container);
  const { workspace, overlayWork, store, baseIndex: index } = paths;
  const made = await makeThrowaway(services, {
    places: { workspace, overlayWork, store, index },
    base: spec.base,
    kept: spec.principalHead,
    branch: spec.branch,
    owner: spec.container,
    method: spec.snapshot?.method ?? "copy",
    addUntracked: (tree) => addOverlay(services, spec, { lease, tree }),
  });
  if (!made.ok) return made;
  const { paths: neverSwept, report, setup } = made.value.added;
  await writeAtomic(paths.layers, `${JSON.stringify(made.value.layers, null, 2)}\n`);
  await writeReport(services, report, setup);
  await writeJob(paths, spec, neverSwept);
  return ok({
    snapshot: {
      overlayFiles: report.copied.length,
      keptOut: report.keptOut.length,
      first: await firstDiskUse(paths),
    },
  });
}

interface Untracked {
  /** What the guest never sweeps into a commit. */
  readonly paths: readonly string[];
  readonly report: OverlayReport;
  readonly setup: PlacedSetup | undefined;
  readonly under: readonly string[];
}

/** Lets in what the rules name, once for the agent and once kept aside for validating the result; then what setup made. */
async function addOverlay(
  services: RunServices,
  spec: RunSpec,
  { lease, tree }: { readonly lease: Lease; readonly tree: WorkTree },
): Promise<Result<Untracked, Failure>> {
  const overlay = await letIn(services, spec.container, {
    program: services.gitProgram,
    env: services.env,
    sources: [lease.path, services.principal.topLevel],
    include: spec.overlay.include,
    target: tree,
  });
  if (!overlay.ok) return overlay;
  const held = await services.leases.check(lease);
  if (!held.ok) return held;
  const { report, under: letInUnder } = overlay.value;
  const paths = report.copied.map((file) => file.path);
  if (spec.validate.length > 0) keepAside(paths, [tree.top, ...letInUnder], services.paths.overlay);
  const ready = await ensureSetup(services, spec);
  if (!ready.ok) return ready;
  const result = ready.value?.result;
  if (result === undefined) return ok({ paths, report, setup: undefined, under: letInUnder });
  const seen: WorkTree = { top: tree.top, under: [...tree.under, ...letInUnder] };
  const { placed: setup, under } = await placeResult(result, seen, spec.container);
  return ok({
    paths: [...paths, ...result.manifest.tops],
    report,
    setup,
    under: [...letInUnder, ...under],
  });
}

async function writeReport(
  services: RunServices,
  overlay: OverlayReport,
  setup: PlacedSetup | undefined,
): Promise<void> {
  const report = { version: 1, ...overlay, ...(setup === undefined ? {} : { setup }) };
  await writeAtomic(services.paths.snapshotManifest, `${JSON.stringify(report, null, 2)}\n`);
}
