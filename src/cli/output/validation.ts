import type { Validation } from "../../core/run-spec.ts";
import { duration } from "./duration.ts";
import type { Output } from "./output.ts";
import { bold, dim, green, red } from "./text.ts";

/** One line a command, with how it ended. */
export function printValidation(output: Output, validation: Validation): void {
  const passed = validation.verdict === "passed";
  output.result(
    "Validation  ",
    passed ? green("passed") : red("failed"),
    dim(` on tree ${validation.tree.slice(0, 12)}`),
  );
  for (const { name, outcome, line, durationMs, exitCode } of validation.results) {
    const paint = outcome === "passed" ? green : outcome === "not-run" ? dim : red;
    output.result(
      "  ",
      paint(outcome.padEnd(13)),
      " ",
      bold(name),
      outcome === "failed" ? `  ${statusText(exitCode)}` : "",
      dim(`  ${line}  ${outcome === "not-run" ? "" : duration(durationMs)}`),
    );
  }
}

/** With what a shell means by it, where that is not plain. */
function statusText(exitCode: number | null): string {
  if (exitCode === 126) return "status 126 (the program cannot be run)";
  if (exitCode === 127) return "status 127 (a program is not there)";
  return `status ${exitCode ?? "unknown"}`;
}
