import { rename } from "node:fs/promises";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { record, step } from "../drive.ts";
import { endingOf } from "../container/ending.ts";
import { type Outbox, readOutbox, saveOutbox } from "../artifacts/outbox.ts";
import { salvage } from "./salvage.ts";
import type { RunServices } from "../services.ts";
import { type Collected, check } from "../stages/collect.ts";
import { type Imported, importStage } from "../stages/import.ts";
import { removeSnapshot } from "../snapshot/remove-snapshot.ts";
import { reviewStage } from "../stages/review.ts";
import { validateStage } from "../stages/validate.ts";

/** What the agent failed to leave, given by a person. */
export interface ByHand {
  readonly taskId: string | undefined;
  readonly message: string | undefined;
}

/**
 * Takes a failed or interrupted run up again from what its record holds: the exported patches, with the task id and
 * message that are missing given by hand. The import checks them like any other.
 */
export async function salvageRun(
  services: RunServices,
  {
    run,
    spec,
    byHand,
  }: { readonly run: RunRecord; readonly spec: RunSpec; readonly byHand: ByHand },
): Promise<Result<Imported["imported"], Failure>> {
  if (run.keptSnapshot !== null) await exportKept(services, spec);
  const found = await readExport(services, run);
  if (!found.ok) return found;
  const completed = complete(found.value, byHand);
  const collected = check(completed, spec);
  if (!collected.ok) return collected;
  // The new ones are whole before the old ones go: they may be the only copy of the work.
  const fresh = `${services.paths.artifacts}.new`;
  await removeTree(fresh);
  await saveOutbox(completed, fresh);
  await removeTree(services.paths.artifacts);
  await rename(fresh, services.paths.artifacts);
  record(services, run.id, { type: "task-selected", task: collected.value.taskId });
  return finish(services, { run, spec, collected: withMessage(collected.value, byHand) });
}

/** A snapshot that could not be exported then is tried once more; it goes when its work is in the record, or it has none. */
async function exportKept(services: RunServices, spec: RunSpec): Promise<void> {
  if ((await salvage(services, spec)) === "kept") return;
  await removeSnapshot(services, spec);
  // Kept with the snapshot, since an export needs it.
  await removeTree(services.paths.job);
  record(services, spec.runId, { type: "snapshot-removed" });
}

async function readExport(services: RunServices, run: RunRecord): Promise<Result<Outbox, Failure>> {
  const { salvage: salvaged, artifacts } = services.paths;
  for (const directory of [salvaged, artifacts, `${artifacts}.new`]) {
    const outbox = await readOutbox(directory);
    if (outbox.ok && outbox.value.manifest !== undefined && outbox.value.patches.length > 0)
      return outbox;
  }
  return fail("missing-patches", `The record of run ${run.id} holds no exported work.`, {
    cure: `See \`guardloop show ${run.id}\` for what there is.`,
  });
}

function complete(outbox: Outbox, byHand: ByHand): Outbox {
  return {
    ...outbox,
    taskId: line(byHand.taskId) ?? outbox.taskId,
    commitMessage: line(byHand.message) ?? outbox.commitMessage,
  };
}

/** The commit that the guest made of the leftovers has a stand-in for a message; the person's words replace it. */
function withMessage(collected: Collected["collected"], byHand: ByHand): Collected["collected"] {
  const { message } = byHand;
  const { manifest } = collected;
  if (message === undefined || !manifest.committedLeftovers) return collected;
  const patches = manifest.patches.map((entry, index) =>
    index === manifest.patches.length - 1 ? { ...entry, message } : entry,
  );
  return { ...collected, manifest: { ...manifest, patches } };
}

function line(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(`${text}\n`, "utf8");
}

async function finish(
  services: RunServices,
  at: {
    readonly run: RunRecord;
    readonly spec: RunSpec;
    readonly collected: Collected["collected"];
  },
): Promise<Result<Imported["imported"], Failure>> {
  const { run, spec, collected } = at;
  const start = { runId: run.id, spec, collected, ending: endingOf(run) };
  const imported = await step(services, importStage, start);
  if (!imported.ok) return { ok: false, error: imported.error.failure };
  await step(services, validateStage, imported.value);
  await step(services, reviewStage, imported.value);
  const { branch, head } = imported.value.imported;
  record(services, run.id, { type: "run-ready", branch, head });
  return ok(imported.value.imported);
}
