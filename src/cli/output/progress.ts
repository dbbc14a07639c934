import type { StoredEvent } from "../../core/events.ts";
import type { StageName } from "../../core/stage-name.ts";
import type { Progress } from "../../run/services.ts";
import type { Output } from "./output.ts";
import { bold, dim, green, red, yellow } from "./text.ts";

/** Prints a run as it goes on: one line a stage with its time, plain enough for a log. */
export function humanProgress(output: Output): (progress: Progress) => void {
  const startedAt = new Map<StageName, number>();
  return (progress) => {
    if (progress.type === "agent-output") return;
    if (progress.type === "notice") {
      output.progress(yellow("note: "), progress.text);
      return;
    }
    printEvent(output, progress.stored, startedAt);
  };
}

function printEvent(
  output: Output,
  { event, at, runId }: StoredEvent,
  startedAt: Map<StageName, number>,
): void {
  switch (event.type) {
    case "run-created":
      output.progress(
        bold(`Run ${runId}`),
        `: agent ${event.agent} on ${event.branch} at ${event.base.slice(0, 12)}`,
        event.parentRun === null ? "" : `, on top of run ${event.parentRun}`,
      );
      break;
    case "stage-intent":
      startedAt.set(event.stage, Date.parse(at));
      if (event.stage === "agent")
        output.progress("  ", dim(`agent     works … (watch it with: guardloop logs ${runId})`));
      break;
    case "stage-done":
      output.progress(
        "  ",
        event.stage.padEnd(10),
        green("ok"),
        "      ",
        took(startedAt, event.stage, at),
        detail(event.output),
      );
      break;
    case "stage-failed":
      output.progress(
        "  ",
        event.stage.padEnd(10),
        red("failed"),
        "  ",
        took(startedAt, event.stage, at),
      );
      break;
    case "task-selected":
      output.progress("  ", dim("task      "), bold(event.task));
      break;
    case "run-ready":
      output.progress("  ", green("ready"), `: ${event.branch}`);
      break;
    case "salvaged":
      output.progress(
        "  ",
        yellow("salvaged"),
        `: ${event.patches} ${event.patches === 1 ? "patch is" : "patches are"} kept in the run's record`,
      );
      break;
    case "snapshot-kept":
      output.progress(
        "  ",
        yellow("kept"),
        `: the snapshot could not be exported and is kept at ${event.path} until ${event.until.slice(0, 10)}`,
      );
      break;
    default:
      // Failures and decisions are said by the command itself, with what to do next.
      break;
  }
}

function took(startedAt: ReadonlyMap<StageName, number>, stage: StageName, at: string): string {
  const since = startedAt.get(stage);
  return since === undefined ? "" : `${((Date.parse(at) - since) / 1000).toFixed(1)} s`.padStart(8);
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
  if ("imported" in output)
    return words(
      output.imported,
      (one) => `  ${String(one.commits)} ${one.commits === 1 ? "commit" : "commits"}`,
    );
  if ("reviewed" in output)
    return words(
      output.reviewed,
      (one) => `  ${Array.isArray(one.findings) ? one.findings.length : 0} findings`,
    );
  return "";
}

function words(value: unknown, say: (value: Record<string, unknown>) => string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return typeof value === "object" && value !== null ? say(value as Record<string, unknown>) : "";
}

/** One JSON event a line; the agent's own output is left to `logs`. */
export function jsonProgress(output: Output): (progress: Progress) => void {
  return (progress) => {
    if (progress.type === "agent-output") return;
    if (progress.type === "notice") {
      output.json({ version: 1, type: "notice", run: progress.runId, text: progress.text });
      return;
    }
    const { seq, runId, at, event } = progress.stored;
    output.json({ version: 1, type: "event", seq, run: runId, at, event });
  };
}
