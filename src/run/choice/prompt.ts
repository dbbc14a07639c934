import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { OfferedTask } from "../../core/run-spec.ts";
import type { NetworkMode } from "../../core/network.ts";

/** Replaced by the list of offered tasks; a template without it would leave the agent without a task. */
const TASKS_MARK = "{{tasks}}";
const KNOWN_MARKS = [TASKS_MARK, "{{artifacts}}", "{{workspace}}", "{{network}}"];

/** What is to be there in the end; the words of every prompt. */
export const CONTRACT = `Write two files into the directory {{artifacts}} (it exists and is outside of the repository):

1. \`selected-task-id.txt\`: one line, the id of the task you did, exactly as listed above.
2. \`last-commit-message.txt\`: the commit message for your work: a subject line, and if useful an empty line and a
   body.
`;

/** What the agent is told unless the repository brings its own template; see docs/operator-contract.md, Prompt. */
const DEFAULT_TEMPLATE = `You are working unattended in a Git repository at {{workspace}}. Nobody can answer questions.
{{network}} Use only the files of this repository and the tools that are installed.

## Your task

Choose exactly one of these tasks of the repository's plan, the first unless there is a reason, and do it completely:

{{tasks}}

## Rules

- Do one task only. Do not start another.
- Read the plan and the files it names before you change anything. Follow the repository's own conventions.
- Run the repository's tests where they can run without a network.
- In the plan, set the status of your task to \`done\`. Do not change the status of other tasks.
- Commit your work with git on the current branch, in one or more commits, or leave it uncommitted: it will be
  committed for you with the message below. Do not rewrite existing commits and make no merges.
- Do not change files that only configure Git, CI, editors or agents unless the task says so.

## When you have finished

${CONTRACT}
Then stop.
`;

export interface PromptOptions {
  /** The repository's own template, or undefined for the default one. */
  readonly template: { readonly path: string; readonly text: string } | undefined;
  readonly offered: readonly OfferedTask[];
  readonly artifacts: string;
  readonly workspace: string;
  readonly network: NetworkMode;
  /** Through the gateway's proxy; missing for none. */
  readonly allowHosts?: readonly string[];
}

function networkSentence({ network, allowHosts = [] }: PromptOptions): string {
  switch (network) {
    case "none":
      return "There is no network.";
    case "gateway":
      return allowHosts.length === 0
        ? "There is no network; only your model can be reached."
        : `There is no network, but for HTTPS to ${allowHosts.join(", ")} through the proxy that the environment names.`;
    case "bridge":
      return "A network is there so that your model can be reached; use it for nothing else.";
  }
}

/** Fills in the template. A template that misses the tasks or names an unknown mark is refused, with its line. */
export function renderPrompt(options: PromptOptions): Result<string, Failure> {
  const text = options.template?.text ?? DEFAULT_TEMPLATE;
  const where = options.template?.path ?? "the default prompt";
  if (!text.includes(TASKS_MARK))
    return fail(
      "config-invalid",
      `${where} does not contain ${TASKS_MARK}, so the agent would get no task.`,
    );
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const unknown = (line.match(/\{\{[^}\n]*\}\}/g) ?? []).find(
      (mark) => !KNOWN_MARKS.includes(mark),
    );
    if (unknown !== undefined)
      return fail(
        "config-invalid",
        `${where}:${index + 1} has ${unknown}; known are ${KNOWN_MARKS.join(", ")}.`,
      );
  }
  const values: Readonly<Record<string, string>> = {
    "{{artifacts}}": options.artifacts,
    "{{workspace}}": options.workspace,
    "{{network}}": networkSentence(options),
    [TASKS_MARK]: options.offered.map(describeTask).join("\n"),
  };
  return ok(text.replaceAll(/\{\{[^}\n]*\}\}/g, (mark) => values[mark] ?? mark));
}

function describeTask(task: OfferedTask): string {
  const acceptance = task.acceptance.map((line) => `  - ${line}`);
  return [`- \`${task.id}\`: ${task.title} (${task.file}:${task.line})`, ...acceptance].join("\n");
}
