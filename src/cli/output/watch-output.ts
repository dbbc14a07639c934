import type { RunView } from "../../run/watching/watcher.ts";
import type { Call } from "../define.ts";
import { egressText } from "./egress.ts";
import { humanProgress } from "./progress.ts";
import { actionLine, containerText, filesText, tokenText, viewLines } from "./run-view.ts";
import { dim } from "./text.ts";

export interface WatchOutput extends Disposable {
  readonly show: (view: RunView) => void;
  /** Takes away what was drawn; what is printed afterwards stays. */
  readonly end: () => void;
}

const MOST_ACTIONS = 10;
/** Of the view, besides the actions. */
const OTHER_LINES = 8;
/** Of what the agent did before we looked, elsewhere. */
const EARLIER_ACTIONS = 5;

/** In place on a terminal, a line for each change elsewhere, an object a line with `--json`. */
export function watchOutput(call: Call, how: { readonly quitWith: string }): WatchOutput {
  if (call.format === "json") return jsonWatch(call);
  return drawnWatch(call, how.quitWith) ?? plainWatch(call);
}

function drawnWatch({ context }: Call, quitWith: string): WatchOutput | undefined {
  const live = context.output.live("stdout");
  if (live === undefined) return undefined;
  return {
    show(view): void {
      const help = dim(`${quitWith} ends watching; the run goes on.`);
      const actions = Math.max(1, Math.min(MOST_ACTIONS, live.room() - OTHER_LINES));
      live.draw([...viewLines(view, context.now(), actions), [help]]);
    },
    end: () => live.erase(),
    [Symbol.dispose]: () => live.erase(),
  };
}

function plainWatch({ context: { output } }: Call): WatchOutput {
  // Events go where the rest of what this command says goes: it is the result here, not progress.
  const tell = humanProgress({ ...output, progress: output.result });
  let before = "";
  let isFirst = true;
  return {
    show(view): void {
      for (const stored of view.newEvents) tell({ type: "event", stored });
      for (const one of isFirst ? view.newActions.slice(-EARLIER_ACTIONS) : view.newActions)
        output.result(...actionLine(one));
      isFirst = false;
      const { files, activity, egress } = view;
      const now = JSON.stringify([files, activity.tokens, egress]);
      if (view.stage?.stage === "agent" && files !== undefined && now !== before)
        output.result(
          dim(
            `  ${filesText(view)}; ${containerText(view)}; tokens ${tokenText(activity.tokens)}${egress === undefined ? "" : `; gateway ${egressText(egress)}`}`,
          ),
        );
      before = now;
    },
    end: () => undefined,
    [Symbol.dispose]: () => undefined,
  };
}

function jsonWatch({ context: { output } }: Call): WatchOutput {
  let before = "";
  return {
    show(view): void {
      const { timeLeft, ...rest } = toJson(view);
      // The clocks always change, which is no news.
      const now = JSON.stringify(rest);
      if (now !== before) output.json({ ...rest, timeLeft });
      before = now;
    },
    end: () => undefined,
    [Symbol.dispose]: () => undefined,
  };
}

/** The documented shape; see docs/json.md. */
function toJson(view: RunView) {
  const { run, stage, activity, egress, container, files, timeLeft } = view;
  const { failure } = run;
  const { stage: failedIn, code, message } = failure ?? {};
  return {
    version: 1,
    run: run.id,
    state: run.state,
    task: run.task,
    stage: stage?.stage ?? null,
    stageStartedAt: stage?.startedAt ?? null,
    actions: activity.count,
    lastAction: activity.actions.at(-1) ?? null,
    tokens: activity.tokens ?? { input: 0, cachedInput: 0, output: 0 },
    ...orNull({ container, egress, files, timeLeft }),
    failure: failure === null ? null : { stage: failedIn, code, message },
  };
}

/** What is not known is said, and not left out. */
function orNull<Fields extends object>(
  fields: Fields,
): { readonly [Key in keyof Fields]: Exclude<Fields[Key], undefined> | null } {
  const entries = Object.entries(fields).map(([key, value]) => [key, value ?? null]);
  // The keys are those of the fields.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(entries) as {
    [Key in keyof Fields]: Exclude<Fields[Key], undefined> | null;
  };
}
