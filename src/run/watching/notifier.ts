import { basename } from "node:path";
import type { StoredEvent } from "../../core/events.ts";
import type { RunRecord } from "../../core/run-record.ts";
import { visible } from "../../core/visible.ts";
import type { History } from "../../history/port.ts";
import type { Channel, Notification, NotificationKind } from "../../notify/notification.ts";
import { blocks } from "../../policy/finding.ts";
import { runPaths } from "../paths.ts";
import type { Progress } from "../services.ts";
import { readFindings } from "../stages/review.ts";

const MAX_TEXT_CHARS = 500;

export interface NotifierRequest {
  readonly channels: readonly Channel[];
  readonly kinds: readonly NotificationKind[];
  readonly history: History;
  readonly stateDir: string;
  readonly now: () => Date;
  /** Aborted when the person who would be told has just ended the run themselves. */
  readonly signal: AbortSignal;
  /** Receives one sentence for each notification that did not arrive. */
  readonly onProblem: (sentence: string) => void;
}

/** Tells a person what a run came to. A reader of the same events as every other view; it never holds up a run. */
export interface Notifier {
  readonly observe: (progress: Progress) => void;
  /** An invocation is over; several results that wait for a decision are told in one notification. */
  readonly seriesEnded: (runs: readonly RunRecord[]) => void;
  /** Waits until everything that was sent has arrived or has failed; each channel bounds its own time. */
  readonly settled: () => Promise<void>;
}

export function notifier(request: NotifierRequest): Notifier {
  const under = new Set<Promise<void>>();
  const later = (work: () => Promise<Notification | undefined>): void => {
    const sent = deliver(request, work).finally(() => under.delete(sent));
    under.add(sent);
  };
  return {
    observe(progress): void {
      if (progress.type !== "event") return;
      const kind = kindOf(progress.stored, request.signal);
      if (kind === undefined || !request.kinds.includes(kind)) return;
      // Read now: the record may go on (a promotion by itself) before this is delivered.
      const run = request.history.run(progress.stored.runId);
      if (run !== undefined) later(() => aboutRun(kind, run, request));
    },
    seriesEnded(runs): void {
      const waiting = runs.filter((run) => run.state === "ready");
      if (runs.length < 2 || waiting.length === 0 || !request.kinds.includes("waiting")) return;
      later(async () => aboutSeries(runs, waiting, request.now()));
    },
    async settled() {
      while (under.size > 0) await Promise.all(under);
    },
  };
}

/** Through every channel at once; a failure, foreseen or not, is a sentence and nothing more. */
async function deliver(
  { channels, onProblem }: NotifierRequest,
  work: () => Promise<Notification | undefined>,
): Promise<void> {
  try {
    const notification = await work();
    if (notification === undefined) return;
    const sent = await Promise.all(channels.map((channel) => channel.send(notification)));
    for (const result of sent)
      if (!result.ok) onProblem(`A notification did not arrive: ${result.error}`);
  } catch (error) {
    onProblem(`A notification could not be made: ${String(error)}`);
  }
}

function kindOf({ event }: StoredEvent, signal: AbortSignal): NotificationKind | undefined {
  if (event.type === "run-ready") return "ready";
  if (event.type === "run-failed") return "failed";
  return event.type === "run-interrupted" && !signal.aborted ? "failed" : undefined;
}

async function aboutRun(
  kind: NotificationKind,
  run: RunRecord,
  at: Pick<NotifierRequest, "stateDir" | "now">,
): Promise<Notification> {
  const what = run.task ?? `run ${run.id}`;
  const common = {
    version: 1,
    kind,
    at: at.now().toISOString(),
    repository: short(basename(run.topLevel)),
    run: run.id,
    task: run.task,
    branch: run.branch,
    code: run.failure?.code ?? null,
  } as const;
  if (kind === "ready")
    return {
      ...common,
      title: short(`guardloop: ${what} is ready`),
      message: short(`${basename(run.topLevel)}: ${await resultText(run, at.stateDir)}.`),
      next: `guardloop review ${run.id}`,
    };
  const { failure } = run;
  const why = failure === null ? "The run was interrupted." : failure.message;
  return {
    ...common,
    title: short(`guardloop: ${what} ${failure === null ? "was interrupted" : "failed"}`),
    message: short(`${basename(run.topLevel)}: ${why}`),
    next: `guardloop show ${run.id}`,
  };
}

/** `validation passed, 2 findings, 1 of them blocks`. */
async function resultText(run: RunRecord, stateDir: string): Promise<string> {
  const findings = (await readFindings(runPaths(stateDir, run.id))) ?? [];
  const blocking = blocks(findings).length;
  const validation =
    run.validation === null ? "not validated" : `validation ${run.validation.verdict}`;
  const counted = findings.length === 1 ? "1 finding" : `${findings.length || "no"} findings`;
  return `${validation}, ${counted}${blocking === 0 ? "" : `, of which ${blocking} must be accepted before it can land`}`;
}

function aboutSeries(
  runs: readonly RunRecord[],
  waiting: readonly RunRecord[],
  now: Date,
): Notification {
  const failed = runs.filter((run) => run.state === "failed").length;
  const name = basename(runs[0]?.topLevel ?? "");
  const results = waiting.length === 1 ? "1 result waits" : `${waiting.length} results wait`;
  const failures = failed === 0 ? "" : ` ${failed === 1 ? "1 run" : `${failed} runs`} failed.`;
  return {
    version: 1,
    kind: "waiting",
    at: now.toISOString(),
    repository: short(name),
    run: null,
    task: null,
    branch: null,
    code: null,
    title: `guardloop: ${results} for you`,
    message: short(`${name}: ${waiting.map((run) => run.task ?? run.id).join(", ")}.${failures}`),
    next: "guardloop runs --state ready",
  };
}

function short(text: string): string {
  const cut = text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS - 1)}…` : text;
  return visible(cut, "one-line");
}
