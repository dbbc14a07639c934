import type { Action, Tokens } from "../../run/watching/activity.ts";
import type { RunView } from "../../run/watching/watcher.ts";
import { duration, size } from "./duration.ts";
import { egressText } from "./egress.ts";
import { grouped } from "./grouped.ts";
import { stateText } from "./state.ts";
import { type Segment, bold, dim } from "./text.ts";

type Line = readonly Segment[];

/** A running run on a terminal: what it is, how far it is, what its agent did last. */
export function viewLines(view: RunView, now: Date, actionCount: number): readonly Line[] {
  const actions = view.activity.actions.slice(-actionCount);
  return [
    [bold(`Run ${view.run.id}`), "  ", stateText(view.run.state), "  ", dim(taskOf(view))],
    stageLine(view, now),
    ...clockLine(view),
    ["tokens     ", tokenText(view.activity.tokens)],
    ...(view.egress === undefined ? [] : [["gateway    ", egressText(view.egress)]]),
    ["container  ", containerText(view)],
    ["files      ", filesText(view)],
    ...(actions.length === 0 ? [[dim("           The agent has said nothing yet.")]] : []),
    ...actions.map(actionLine),
  ];
}

function taskOf({ run, spec }: RunView): string {
  const offered = spec?.offered ?? [];
  const chosen = offered.find((task) => task.id === run.task);
  if (run.task !== null) return `${run.task} ${chosen?.title ?? ""}`;
  const [only] = offered;
  if (offered.length === 1 && only !== undefined) return `${only.id} ${only.title}`;
  return offered.length === 0 ? "" : `one of ${offered.map((task) => task.id).join(", ")}`;
}

function stageLine({ run, stage }: RunView, now: Date): Line {
  const begun = Date.parse(stage?.startedAt ?? run.startedAt);
  const whole = duration(Math.max(0, now.getTime() - Date.parse(run.startedAt)));
  const inStage = duration(Math.max(0, now.getTime() - begun));
  return ["stage      ", bold(stage?.stage ?? "-"), `  for ${inStage}`, dim(`  of ${whole}`)];
}

function clockLine({ timeLeft }: RunView): readonly Line[] {
  if (timeLeft === undefined) return [];
  const { wallMs, idleMs } = timeLeft;
  return [
    ["time left  ", `${duration(wallMs)} in all, ${duration(idleMs)} until silence is too long`],
  ];
}

export function tokenText(tokens: Tokens | null): string {
  if (tokens === null) return "not told yet";
  const cached = tokens.cachedInput === 0 ? "" : ` (${grouped(tokens.cachedInput)} cached)`;
  return `${grouped(tokens.input)} in${cached}, ${grouped(tokens.output)} out`;
}

export function containerText({ container }: RunView): string {
  if (container === undefined) return "-";
  const { cpuPercent, memoryBytes, memoryLimitBytes } = container;
  // Where the host gives no memory controller the engine says 0 of 0.
  if (memoryLimitBytes === 0) return `CPU ${cpuPercent.toFixed(0)} %, memory not measured`;
  return `CPU ${cpuPercent.toFixed(0)} %, memory ${size(memoryBytes)} of ${size(memoryLimitBytes)}`;
}

export function filesText({ files }: RunView): string {
  if (files === undefined) return "-";
  const count = `${files.files} ${files.files === 1 ? "file" : "files"} touched`;
  return files.looked === "all" ? count : `${count}, or more`;
}

export function actionLine({ at, text }: Action): Line {
  return ["  ", dim(timeOfDay(at)), "  ", text];
}

/** Of the local clock. */
function timeOfDay(iso: string): string {
  const date = new Date(iso);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
