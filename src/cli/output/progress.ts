import type { StoredEvent } from "../../core/events.ts";
import type { AgentEnding } from "../../core/run-spec.ts";
import type { Progress } from "../../run/services.ts";
import { egressNews } from "./egress-news.ts";
import type { Output } from "./output.ts";
import { runLabels } from "./run-labels.ts";
import { type Segment, bold, dim, green, red, yellow } from "./text.ts";

/** `every-line`: several runs go on at once, so each line begins with the label of its run. */
export type Labels = "none" | "every-line";

/** Prints runs as they go on: one line a stage with its time, plain enough for a log. */
export function humanProgress(
  output: Output,
  labels: Labels = "none",
): (progress: Progress) => void {
  const started = new Map<string, number>();
  const names = runLabels();
  const newsOf = egressNews();
  const printFor =
    (runId: string | null): Print =>
    (...segments) =>
      labels === "none" || runId === null
        ? output.progress(...segments)
        : output.progress(dim(names.of(runId).padEnd(LABEL_WIDTH)), " ", ...segments);
  return (progress) => {
    if (progress.type === "agent-output" || progress.type === "agent-event") return;
    if (progress.type === "notice") {
      printFor(progress.runId)(yellow("note: "), progress.text);
      return;
    }
    if (progress.type === "egress") {
      const news = newsOf(progress.runId, progress.entry);
      if (news !== undefined) printFor(progress.runId)("  ", yellow("gateway "), "  ", news);
      return;
    }
    names.learn(progress.stored);
    printEvent(printFor(progress.stored.runId), progress.stored, started);
  };
}

/** Most task ids are shorter; a longer one moves its own line only. */
const LABEL_WIDTH = 8;

type Print = (...segments: readonly Segment[]) => void;

/** @param started when each stage of each run began, in milliseconds after the epoch. */
function printEvent(print: Print, stored: StoredEvent, started: Map<string, number>): void {
  const { event, at, runId } = stored;
  switch (event.type) {
    case "stage-intent":
      started.set(`${runId} ${event.stage}`, Date.parse(at));
      if (event.stage === "agent")
        print("  ", dim(`agent     works … (watch it with: guardloop watch ${runId})`));
      break;
    case "stage-done":
      print(
        "  ",
        event.stage.padEnd(10),
        green("ok"),
        "      ",
        took(started.get(`${runId} ${event.stage}`), at),
        detail(event.output),
      );
      break;
    case "stage-failed":
      print(
        "  ",
        event.stage.padEnd(10),
        red("failed"),
        "  ",
        took(started.get(`${runId} ${event.stage}`), at),
      );
      break;
    default:
      for (const line of linesOf(stored)) print(...line);
  }
}

/** Everything but the stages; failures and decisions are said by the command itself, with what to do next. */
function linesOf({ event, runId }: StoredEvent): readonly (readonly Segment[])[] {
  switch (event.type) {
    case "run-created": {
      const parent = event.parentRun === null ? "" : `, on top of run ${event.parentRun}`;
      const { attempt = null } = event;
      const which = attempt === null ? "" : `attempt ${attempt.number} of ${attempt.of}, `;
      const where = `: ${which}agent ${event.agent} on ${event.branch} at ${event.base.slice(0, 12)}${parent}`;
      return [[bold(`Run ${runId}`), where]];
    }
    case "run-adopted":
      return [
        [
          bold(`Run ${runId}`),
          ": its process died, its agent goes on here (Ctrl-C ends it in order)",
        ],
      ];
    case "task-selected":
      return [["  ", dim("task      "), bold(event.task)]];
    case "validated":
      return event.validation.results.map((one) => [
        "  ",
        dim("          "),
        one.outcome === "passed" ? green(one.outcome) : yellow(one.outcome),
        `  ${one.name}`,
      ]);
    case "run-ready":
      return [["  ", green("ready"), `: ${event.branch}`]];
    case "salvaged": {
      const count = event.patches === 1 ? "1 patch is" : `${event.patches} patches are`;
      return [["  ", yellow("salvaged"), `: ${count} kept in the run's record`]];
    }
    case "snapshot-kept": {
      const where = `kept at ${event.path} until ${event.until.slice(0, 10)}`;
      return [
        ["  ", yellow("kept"), `: the snapshot could not be exported and is ${where}`],
        [dim(`  when its cause is mended, try again with: guardloop salvage ${runId}`)],
      ];
    }
    default:
      return [];
  }
}

function took(since: number | undefined, at: string): string {
  return since === undefined
    ? ""
    : `${(Math.max(0, Date.parse(at) - since) / 1000).toFixed(1)} s`.padStart(8);
}

/** The few outputs worth a word at the end of their line. */
function detail(output: unknown): string {
  if (typeof output !== "object" || output === null) return "";
  if ("lease" in output) return words(output.lease, (lease) => `  ${String(lease.path)}`);
  if ("snapshot" in output)
    return words(
      output.snapshot,
      (one) =>
        `  ${String(one.overlayFiles)} untracked files let in, ${String(one.keptOut)} kept out`,
    );
  if ("ending" in output) return words(output.ending, ({ kind }) => ENDED_BY.get(kind) ?? "");
  if ("imported" in output)
    return words(output.imported, (one) => counted(Number(one.commits), "commit"));
  if ("reviewed" in output)
    return words(output.reviewed, (one) =>
      counted(Array.isArray(one.findings) ? one.findings.length : 0, "finding"),
    );
  return "";
}

/** What ended an agent that did not end by itself; why that is a failure comes with the failure. */
const ENDED_BY: ReadonlyMap<unknown, string> = new Map([
  ["wall-limit", "  ended at its wall-clock limit"],
  ["idle-limit", "  ended at its idle limit"],
  ["completion-limit", "  was done, did not end, and was ended"],
  ["disk-limit", "  ended at its limit on the disk"],
  ["budget-limit", "  ended at a budget"],
  ["out-of-memory", "  ended at its memory limit"],
  ["killed", "  was killed"],
  ["interrupted", "  was interrupted"],
] satisfies readonly (readonly [AgentEnding["kind"], string])[]);

function counted(count: number, noun: string): string {
  return `  ${count} ${noun}${count === 1 ? "" : "s"}`;
}

function words(value: unknown, say: (value: Record<string, unknown>) => string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return typeof value === "object" && value !== null ? say(value as Record<string, unknown>) : "";
}

/** One JSON event a line; the agent's own output is left to `logs`. */
export function jsonProgress(output: Output): (progress: Progress) => void {
  return (progress) => {
    if (progress.type === "agent-output" || progress.type === "agent-event") return;
    if (progress.type === "notice") {
      output.json({ version: 1, type: "notice", run: progress.runId, text: progress.text });
      return;
    }
    if (progress.type === "egress") {
      output.json({ version: 1, type: "egress", run: progress.runId, egress: progress.entry });
      return;
    }
    const { seq, runId, at, event } = progress.stored;
    output.json({ version: 1, type: "event", seq, run: runId, at, event });
  };
}
