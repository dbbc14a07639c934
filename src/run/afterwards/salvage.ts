import { existsSync } from "node:fs";
import { copyFile, lstat, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { containerName } from "../../core/ids.ts";
import { ARTIFACT } from "../../core/artifacts.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { giveTo } from "../../files/ownership.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { treeSizeBytes } from "../../files/tree-size.ts";
import { startClocks } from "../container/clocks.ts";
import { inContainerSlot } from "../container/host-slots.ts";
import { containerSpec } from "../container/container.ts";
import { openerOf, renewOverlayWork } from "../container/overlay-work.ts";
import { readLayers } from "../layers/layers.ts";
import { attempt, record } from "../drive.ts";
import { parseManifest } from "../artifacts/manifest.ts";
import { type Outbox, readOutbox, saveOutbox } from "../artifacts/outbox.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { RunServices } from "../services.ts";
import { proveGone } from "../stages/collect.ts";

/** For specs that do not say it. */
const KEEP_DAYS = 14;
/** A time that never comes, for what is kept until somebody removes it. */
const NEVER = "9999-12-31T23:59:59.999Z";

/**
 * Gets the work out of a run that failed: what the guest exported by itself, else an export from the snapshot in a
 * container without network. Only when both fail is the snapshot kept. May be called twice.
 *
 * @returns `out` when nothing of the work is in the snapshot alone any more, as where there was none.
 */
export async function salvage(services: RunServices, spec: RunSpec): Promise<"out" | "kept"> {
  const workspace = await lstat(services.paths.workspace).catch(() => undefined);
  // The last events may be lost with the history's log; what the container was started with is on disk before it starts.
  const ran = services.history
    .events(spec.runId)
    .some(({ event }) => event.type === "stage-intent" && event.stage === "agent");
  if (!(ran || existsSync(services.paths.containerArgv)) || workspace === undefined) return "out";
  const exported = await attempt(() => exportAndSave(services, spec));
  if (!exported.ok) {
    await keepSnapshot(services, spec);
    return "kept";
  }
  const patches = exported.value.patches.length;
  if (patches > 0) record(services, spec.runId, { type: "salvaged", patches });
  return "out";
}

async function exportAndSave(
  services: RunServices,
  spec: RunSpec,
): Promise<Result<Outbox, Failure>> {
  const exported = await exportWork(services, spec);
  if (exported.ok && exported.value.patches.length > 0)
    await saveOutbox(exported.value, services.paths.salvage);
  return exported;
}

async function exportWork(services: RunServices, spec: RunSpec): Promise<Result<Outbox, Failure>> {
  const gone = await proveGone(services, containerName(spec.runId, "agent"));
  if (!gone.ok) return gone;
  const byGuest = await readOutbox(services.paths.outbox);
  if (byGuest.ok && isComplete(byGuest.value)) return byGuest;
  return inContainerSlot(services, { spec, onInterrupt: "go-ahead" }, () =>
    exportAgain(services, spec),
  );
}

/** The manifest is written last: with it, the export is whole. */
function isComplete(outbox: Outbox): boolean {
  const manifest = parseManifest(outbox.manifest);
  return manifest.ok && manifest.value.patches.length === outbox.patches.length;
}

async function exportAgain(services: RunServices, spec: RunSpec): Promise<Result<Outbox, Failure>> {
  const { paths, engine } = services;
  await removeTree(paths.outbox);
  await mkdir(paths.outbox, { mode: 0o700 });
  giveTo(paths.outbox, spec.container);
  // A run that an older version began has that version's guest, which may be called otherwise.
  await copyFile(services.guestBundle, join(paths.job, basename(IN_CONTAINER.guest)));
  const layers = await readLayers(paths);
  const container = containerSpec(spec, paths, { purpose: "salvage", layers });
  const removed = await engine.remove(container.name);
  if (!removed.ok) return removed;
  const renewed = await renewOverlayWork(engine, container, () => openerOf(spec, paths));
  if (!renewed.ok) return renewed;
  // Not the run's own signal: after Ctrl-C the work is still to be got out. A second Ctrl-C ends the process.
  using clocks = startClocks(
    { wallMs: DEADLINES.salvageMs, idleMs: DEADLINES.salvageMs },
    {
      signal: new AbortController().signal,
      onLimit: (name) => void engine.signal(container.name, name),
    },
  );
  const end = await engine.run(
    container,
    {
      onOutput: (_stream, chunk) =>
        services.report({ type: "agent-output", runId: spec.runId, chunk }),
    },
    {},
  );
  if (clocks.reached() !== undefined)
    return fail("container-failed", "The export took too long and was ended.");
  if (!end.ok) return end;
  const gone = await proveGone(services, container.name, end.value.gone);
  if (!gone.ok) return gone;
  const outbox = await readOutbox(paths.outbox);
  if (outbox.ok && !isComplete(outbox.value))
    return fail("bad-manifest", `The export did not end: ${ARTIFACT.manifest} is missing.`);
  return outbox;
}

async function keepSnapshot(services: RunServices, spec: RunSpec): Promise<void> {
  const { snapshotDays = KEEP_DAYS } = spec;
  const until =
    snapshotDays === null
      ? NEVER
      : new Date(services.now().getTime() + snapshotDays * 24 * 60 * 60_000).toISOString();
  const path = join(services.paths.root, "workspace");
  record(services, spec.runId, {
    type: "snapshot-kept",
    path,
    sizeBytes: await treeSizeBytes(path),
    until,
  });
}
