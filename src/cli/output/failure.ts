import { EXIT, type Failure, exitStatusOf } from "../../core/failures.ts";
import { visible } from "../../core/visible.ts";
import type { Output } from "./output.ts";
import { bold, dim, red } from "./text.ts";

/** Says what is wrong, where, and what to do; a mistake on the command line in one line. With `--json` the same goes to standard output as one object. */
export function printFailure(
  output: Output,
  failure: Failure,
  { format, runId }: { readonly format: "human" | "json"; readonly runId?: string },
): void {
  const { code, message, details } = failure;
  const cure = runId === undefined ? failure.cure : namingRun(failure.cure, runId);
  if (format === "json") {
    output.json({ version: 1, error: { code, message, cure, details } });
    return;
  }
  if (exitStatusOf(code) === EXIT.usage && details.length === 0) {
    output.progress(red("guardloop: "), bold(message), " ", cure);
    return;
  }
  // One line each: words of a branch or an agent must not make lines that look like ours.
  output.progress(red("guardloop: "), bold(visible(message, "one-line")));
  for (const line of details) output.progress("  ", visible(line, "one-line"));
  output.progress(cure, dim(` [${code}]`));
}

/** The table of failures says RUN where a command wants a run's id; a person can then copy the command. */
export function namingRun(cure: string, runId: string): string {
  return cure.replaceAll(/\bRUN\b/g, runId);
}
