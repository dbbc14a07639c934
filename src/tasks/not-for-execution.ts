import { readFrontMatter } from "./front-matter.ts";
import type { PlanDocument } from "./plan-document.ts";
import type { PlanLine } from "./plan-line.ts";
import { normaliseStatus } from "./status.ts";

const NOT_TO_RUN =
  /\b(?:do not|don['’]t|never) (?:execute|run|implement)\b|\bnot for execution\b|^(?:historical|superseded|obsolete|deprecated|abandoned)\b/i;

/**
 * The line of a status above the first task that keeps the whole file from being executed: it says so
 * (`> **Status:** Historical — do not execute`), or it is one of the words for skipped (`archived`). Such a line
 * never makes a task runnable, only the opposite. Null when there is none.
 */
export function notForExecution(document: PlanDocument, firstTaskLine: number): number | null {
  const yaml = document.frontMatter;
  const inYaml = yaml === null ? null : readFrontMatter(yaml.yaml, yaml.line).status;
  if (inYaml !== null && forbids(inYaml.text)) return inYaml.line;
  const above = document.lines.filter((line) => line.line < firstTaskLine);
  const found = above.find(
    (line, index) => line.label === "status" && forbids(wholeText(above, index)),
  );
  return found?.line ?? null;
}

/** The value and the rest of its paragraph. */
function wholeText(lines: readonly PlanLine[], index: number): string {
  const text = [lines[index]?.value ?? ""];
  for (let next = index + 1; lines[next]?.kind === "continued"; next += 1) {
    text.push(lines[next]?.text ?? "");
  }
  return text.join(" ");
}

function forbids(text: string): boolean {
  return NOT_TO_RUN.test(text.trim()) || normaliseStatus(text) === "skip";
}
