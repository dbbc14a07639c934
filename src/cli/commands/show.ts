import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { LIMITS } from "../../core/limits.ts";
import { ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { Finding, Severity } from "../../policy/finding.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { printRunPage } from "../output/run-page.ts";
import { type RunFacts, runFacts } from "../run-facts.ts";
import { withRun } from "../with-run.ts";
import { summaryOf } from "./runs.ts";

export function showCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "show",
    description:
      "Shows what the record of a run holds, on one screen. RUN is an id, the beginning of one, or @last. --argv prints the exact call of the container engine instead.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop show @last",
      "guardloop show 261129 --json",
      "guardloop show @last --argv",
    ],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option("--argv", "print how the container was started, an argument a line");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { output, env, now } = call.context;
  return withRun(call, async ({ run }) => {
    const facts = await runFacts(env.stateDir, run);
    if (call.format === "json") output.json(toJson(facts));
    else if (call.options.argv === true) printArgv(call, facts);
    else printRunPage(output, facts, now());
    return ok(EXIT.done);
  });
}

function printArgv({ context: { output } }: Call, { argv, run }: RunFacts): void {
  for (const argument of argv) output.result(argument);
  if (argv.length === 0) output.progress(`Run ${run.id} came to no container.`);
}

/** The documented shape; see docs/json.md. */
function toJson({ run, spec, artifacts, remarks, record, ...facts }: RunFacts) {
  const { onto, parentRun, agent, agentVersion, network, failure, topLevel } = run;
  const { stages, salvagedPatches, keptSnapshot, validation } = run;
  const { promotion, rollback, discard, branchPruned, recordRemoved } = run;
  const task = spec?.offered.find((one) => one.id === run.task);
  return {
    version: 1,
    run: {
      ...summaryOf(run),
      failure,
      repository: topLevel,
      onto,
      parentRun,
      agent,
      agentVersion,
      network,
    },
    plan: task === undefined ? null : { file: task.file, line: task.line, title: task.title },
    commits: facts.commits ?? 0,
    findings: facts.findings === undefined ? null : countsOf(facts.findings),
    stages,
    artifacts,
    remarks,
    record,
    salvagedPatches,
    keptSnapshot,
    validation,
    promotion,
    rollback,
    discard,
    branchPruned,
    recordRemoved,
    ...surroundings(spec, facts.leasePath),
    snapshot: facts.snapshot ?? null,
    specHash: run.specHash,
    planHash: spec?.plan.hash ?? null,
    peaks: facts.peaks ?? null,
    disk: facts.disk ?? null,
    egress: facts.egress ?? null,
    missingLog: facts.missingLog ?? null,
    argv: facts.argv,
  };
}

function countsOf(findings: readonly Finding[]) {
  const count = (severity: Severity): number =>
    findings.filter((one) => one.severity === severity).length;
  const codes = [...new Set(findings.map((one) => one.code))];
  return { block: count("block"), warn: count("warn"), info: count("info"), codes };
}

/** Where the run did not come to a spec there is no engine, and texts are empty. */
function surroundings(spec: RunSpec | undefined, leasePath: string | null) {
  return {
    engine: spec === undefined ? null : engineJson(spec),
    container: spec?.container ?? null,
    limits: spec === undefined ? null : limitsJson(spec),
    lease: { kind: spec?.lease ?? "", path: leasePath ?? "" },
    snapshotMethod: spec?.snapshot ?? null,
    settings: spec?.settings ?? [],
  };
}

function limitsJson({ limits }: RunSpec) {
  const { wallMs, idleMs, logBytes = LIMITS.agentLogBytes } = limits;
  return { wallMs, idleMs, logBytes };
}

/** Runtime and rights are null in records of 0.1, which did not keep them. */
function engineJson({ engine, image }: RunSpec) {
  const { kind, version, runtime = null, rights = null } = engine;
  return { kind, version, runtime, rights, image: image.name, imageId: image.id };
}
