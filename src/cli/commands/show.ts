import { join } from "node:path";
import type { Command } from "commander";
import { ARTIFACT } from "../../core/artifacts.ts";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { runPaths } from "../../run/paths.ts";
import { readOutbox } from "../../run/artifacts/outbox.ts";
import { readImportReport } from "../../run/stages/import.ts";
import { readSpec } from "../../run/stages/spec.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { withRun } from "../with-run.ts";
import { namingRun } from "../output/failure.ts";
import type { Output } from "../output/output.ts";
import { duration, size } from "../output/duration.ts";
import { engineText } from "../output/engine.ts";
import { printValidation } from "../output/validation.ts";
import { stateText } from "../output/state.ts";
import { bold, dim, green, red } from "../output/text.ts";
import { summaryOf } from "./runs.ts";

export function showCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "show",
    summary: "show one run: task, stages, artifacts, branch, failure and cure",
    description:
      "Shows what the record of a run holds. RUN is an id, the beginning of one, or @last.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop show @last", "guardloop show 261129 --json"],
  }).argument("<run>", "id, unique prefix, or @last");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  return withRun(call, async ({ run }) => {
    const paths = runPaths(call.context.env.stateDir, run.id);
    const spec = await readSpec(paths);
    const artifacts = await artifactsOf(paths.artifacts);
    const remarks = (await readImportReport(paths))?.remarks ?? [];
    if (call.format === "json") {
      call.context.output.json(
        toJson(run, {
          engine: spec.ok ? engineJson(spec.value) : null,
          artifacts,
          remarks,
          record: paths.root,
        }),
      );
      return ok(EXIT.done);
    }
    printRun(call.context.output, run, spec.ok ? spec.value : undefined);
    printStages(call.context.output, run, call.context.now());
    printArtifacts(call.context.output, artifacts);
    if (run.validation !== null) printValidation(call.context.output, run.validation);
    for (const remark of remarks) call.context.output.result("Note        ", remark);
    printEnd(call.context.output, run);
    call.context.output.result(dim(`Record      ${paths.root}`));
    return ok(EXIT.done);
  });
}

interface ArtifactSummary {
  readonly name: string;
  readonly sizeBytes: number;
}

async function artifactsOf(directory: string): Promise<readonly ArtifactSummary[]> {
  const saved = await readOutbox(directory);
  if (!saved.ok) return [];
  const { taskId, commitMessage, manifest, patches } = saved.value;
  const named = [
    { name: ARTIFACT.taskId, bytes: taskId },
    { name: ARTIFACT.commitMessage, bytes: commitMessage },
    ...patches.map((patch) => ({ name: join(ARTIFACT.patches, patch.name), bytes: patch.bytes })),
    { name: ARTIFACT.manifest, bytes: manifest },
  ];
  return named.flatMap(({ name, bytes }) =>
    bytes === undefined ? [] : [{ name, sizeBytes: bytes.length }],
  );
}

function toJson(
  run: RunRecord,
  more: {
    readonly engine: ReturnType<typeof engineJson> | null;
    readonly artifacts: readonly ArtifactSummary[];
    readonly remarks: readonly string[];
    readonly record: string;
  },
) {
  const { onto, parentRun, agent, network, stages, failure, salvagedPatches, keptSnapshot } = run;
  const { promotion, rollback, branchPruned, topLevel, validation } = run;
  return {
    version: 1,
    run: { ...summaryOf(run), failure, repository: topLevel, onto, parentRun, agent, network },
    stages,
    ...more,
    salvagedPatches,
    keptSnapshot,
    validation,
    promotion,
    rollback,
    branchPruned,
  };
}

/** Runtime and rights are null in records of 0.1, which did not keep them. */
function engineJson({ engine, image }: RunSpec) {
  const { kind, version, runtime = null, rights = null } = engine;
  return { kind, version, runtime, rights, image: image.name, imageId: image.id };
}

function printRun(output: Output, run: RunRecord, spec: RunSpec | undefined): void {
  output.result(bold(`Run ${run.id}`), "  ", stateText(run.state));
  const title = spec?.offered.find((task) => task.id === run.task)?.title;
  const offered = spec?.offered.map((task) => task.id).join(", ") ?? "";
  output.result(
    "Task        ",
    run.task === null ? `none chosen (offered: ${offered})` : `${run.task} ${title ?? ""}`,
  );
  output.result("Repository  ", run.topLevel, `, onto ${run.onto}`);
  output.result(
    "Base        ",
    run.base.slice(0, 12),
    run.parentRun === null ? "" : `, the tip of run ${run.parentRun}`,
  );
  output.result(
    "Agent       ",
    run.agent,
    `, network ${run.network}`,
    spec === undefined ? "" : `, image ${spec.image.name}`,
  );
  if (spec !== undefined) output.result("Engine      ", engineText(spec.engine));
  if (run.branch !== null)
    output.result(
      "Branch      ",
      run.branch,
      run.head === null ? "" : ` at ${run.head.slice(0, 12)}`,
    );
}

function printStages(output: Output, run: RunRecord, now: Date): void {
  output.result("Stages");
  for (const timing of run.stages) {
    const end = timing.endedAt === null ? now.getTime() : Date.parse(timing.endedAt);
    const outcome =
      timing.outcome === "done"
        ? green("ok")
        : timing.outcome === "failed"
          ? red("failed")
          : timing.outcome;
    output.result(
      "  ",
      timing.stage.padEnd(10),
      duration(end - Date.parse(timing.startedAt)).padStart(12),
      "  ",
      outcome,
    );
  }
}

function printArtifacts(output: Output, artifacts: readonly ArtifactSummary[]): void {
  output.result("Artifacts", artifacts.length === 0 ? "   none" : "");
  for (const { name, sizeBytes } of artifacts)
    output.result("  ", name, dim(`  ${size(sizeBytes)}`));
}

function printEnd(output: Output, run: RunRecord): void {
  const { failure, promotion, rollback, keptSnapshot } = run;
  if (promotion !== null)
    output.result(
      "Promoted    ",
      `${promotion.before.slice(0, 12)} -> ${promotion.after.slice(0, 12)} by ${promotion.by}, ${promotion.how}`,
      promotion.why === "" ? "" : `: ${promotion.why}`,
    );
  if (rollback !== null)
    output.result(
      "Rolled back ",
      `${rollback.before.slice(0, 12)} -> ${rollback.after.slice(0, 12)} by ${rollback.by}, ${rollback.how}`,
    );
  if (run.branchPruned !== null)
    output.result(
      "Pruned      ",
      `${run.branchPruned.at.slice(0, 10)} by ${run.branchPruned.by}, as ${run.branchPruned.because}; the branch was at ${run.branchPruned.head}`,
    );
  if (run.salvagedPatches > 0 && failure !== null) {
    const count = run.salvagedPatches === 1 ? "1 patch" : `${run.salvagedPatches} patches`;
    output.result("Salvaged    ", `${count}, in the record's salvage directory`);
    output.result(
      "            ",
      `Make a branch of it: guardloop salvage ${run.id} --task ID --message TEXT`,
    );
  }
  if (keptSnapshot !== null)
    output.result(
      "Kept        ",
      `snapshot of ${size(keptSnapshot.sizeBytes)} at ${keptSnapshot.path}, until ${keptSnapshot.until.slice(0, 10)}`,
    );
  if (failure === null) return;
  output.result(
    red("Failure     "),
    bold(failure.message),
    dim(` [${failure.code} in ${failure.stage}]`),
  );
  for (const line of failure.details) output.result("            ", line);
  output.result("What to do  ", namingRun(failure.cure, run.id));
}
