import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../core/artifacts.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { agentBranch } from "../../core/ids.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { gitText } from "../../git/git.ts";
import { createRef, deleteRef, readRef, transferObjects } from "../../git/publish.ts";
import { type Quarantine, makeQuarantine } from "../../git/quarantine.ts";
import { refuseTreeSize } from "../../git/refuse-tree.ts";
import { type Progress as Rebuilt, rebuild } from "../import/rebuild.ts";
import type { RunPaths } from "../paths.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";
import type { Collected } from "./collect.ts";

export interface Imported {
  readonly imported: {
    readonly branch: string;
    readonly head: string;
    readonly tree: string;
    readonly commits: number;
    /** Declared losses and other things a reviewer should know about the way the work came back. */
    readonly remarks: readonly string[];
    /** What of authors, dates and messages could not be published as it was; not there in records of version 0.1. */
    readonly changes?: readonly string[];
  };
}

interface Input extends Collected {
  readonly runId: string;
  readonly spec: RunSpec;
}

/** Turns the saved patches into commits in a quarantine, compares every tree, and only then publishes the branch. */
export const importStage: Stage<Input, Imported> = {
  name: "import",
  async perform(services, input) {
    await removeTree(services.paths.quarantine);
    const quarantine = await makeQuarantine({
      program: services.gitProgram,
      env: services.env,
      dir: services.paths.quarantine,
      objectsDir: join(services.principal.commonDir, "objects"),
    });
    const { base } = input.spec;
    const facts = { runId: input.runId, spec: input.spec, base, ...input.collected };
    const rebuilt = await rebuild(services.paths, quarantine, facts);
    if (!rebuilt.ok) return rebuilt;
    const { tip, walked } = rebuilt.value;
    const size = walked === tip ? ok(undefined) : await refuseTreeSize(quarantine.git, tip);
    if (!size.ok) return size;
    const published = await publish(services, quarantine, { input, made: rebuilt.value });
    if (published.ok) await removeTree(services.paths.quarantine);
    return published;
  },
  async observe(services, { runId, collected }) {
    const branch = agentBranch(collected.taskId, runId);
    const there = await readRef(services.principal.git, `refs/heads/${branch}`);
    return ok(there === undefined ? "absent" : "present");
  },
  async undo(services) {
    await removeTree(services.paths.quarantine);
    // The report is written before the branch, so a branch of ours has one. Any other branch is not ours to delete.
    const report = await readImportReport(services.paths);
    if (report === undefined) return ok(undefined);
    return deleteRef(services.principal.git, `refs/heads/${report.branch}`, report.head);
  },
};

/** The report of an import in a run's record; undefined when there is none. */
export async function readImportReport(paths: RunPaths): Promise<Imported["imported"] | undefined> {
  const text = await readFile(paths.importReport, "utf8").catch(() => undefined);
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return text === undefined ? undefined : (JSON.parse(text) as Imported["imported"]);
}

async function publish(
  services: RunServices,
  quarantine: Quarantine,
  { input, made }: { readonly input: Input; readonly made: Rebuilt },
): Promise<Result<Imported, Failure>> {
  const { tip, changes } = made;
  const { spec, collected, runId } = input;
  const tree =
    made.tree === undefined
      ? await gitText(quarantine.git, ["rev-parse", `${tip}^{tree}`])
      : ok(made.tree);
  if (!tree.ok) return tree;
  if (tree.value !== collected.manifest.finalTree)
    return fail(
      "import-mismatch",
      `The last tree is ${tree.value}, but the agent had ${collected.manifest.finalTree}.`,
    );
  const range = { base: spec.base, tip };
  const moved = await transferObjects(quarantine, services.principal.git, range);
  if (!moved.ok) return moved;
  const branch = agentBranch(collected.taskId, runId);
  const imported: Imported["imported"] = {
    branch,
    head: tip,
    tree: tree.value,
    commits: collected.manifest.patches.length,
    remarks: remarksOf(collected.manifest),
    changes,
  };
  await writeAtomic(
    services.paths.importReport,
    `${JSON.stringify({ version: 1, ...imported }, null, 2)}\n`,
  );
  const created = await createRef(services.principal.git, `refs/heads/${branch}`, tip);
  return created.ok ? ok({ imported }) : created;
}

/** Losses and leftovers that the guest declared; its words, so they are shown escaped. */
export function remarksOf(manifest: Manifest): readonly string[] {
  const remarks: string[] = [];
  if (manifest.history.kind === "flattened")
    remarks.push(`History was flattened into one patch: ${manifest.history.reason}`);
  if (manifest.committedLeftovers)
    remarks.push("The guest committed what the agent had left uncommitted.");
  if (manifest.ignoredLeftBehind.total > 0)
    remarks.push(
      `${manifest.ignoredLeftBehind.total} ignored or unrecordable files were left behind: ${manifest.ignoredLeftBehind.names.slice(0, 10).join(", ")}`,
    );
  if (manifest.agent.exitCode !== null && manifest.agent.exitCode !== 0)
    remarks.push(`The agent ended with status ${manifest.agent.exitCode}.`);
  if (manifest.agent.outcome === "signalled")
    remarks.push(`The agent was ended by ${manifest.agent.signal ?? "a signal"}.`);
  return [...remarks, ...wokenRemarks(manifest)];
}

function wokenRemarks({ resumed }: Manifest): readonly string[] {
  const { reminders = 0, afterLimits = 0 } = resumed ?? {};
  const times = afterLimits === 1 ? "once" : `${afterLimits} times`;
  return [
    ...(reminders > 0 ? ["The agent ended without its artifacts and was reminded of them."] : []),
    ...(afterLimits > 0 ? [`The agent went on ${times} after a limit of its model API.`] : []),
  ];
}
