import { array, assert, constantFrom, nat, oneof, property, record, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { isTaskId } from "../../src/core/ids.ts";
import { isRunnable } from "../../src/tasks/plan.ts";
import type { TaskPlan } from "../../src/tasks/task.ts";
import { fixture, planOf, planOfFiles } from "./plan-rig.ts";

const FIXTURES = ["shape-a", "shape-b", "shape-c", "shape-d", "us-005", "us-008", "add-login"];

/** Pieces that mean something to Markdown, YAML or this parser, and some that are only trouble. */
const PIECES = [
  "## T1 — A\n",
  "### [TASK-2] B\n",
  "# US-3: C\n",
  "Status: ready\n",
  "- **Status:** done\n",
  "> Status: planned\n",
  "Dependencies:\n- T1\n",
  "Depends on: T1, TASK-2\n",
  "```\n",
  "~~~\n",
  "<!--",
  "-->",
  "---\n",
  "---\nid: T1\nstatus: ready\n---\n",
  "| Status | ready |\n| - | - |\n",
  "\n",
  "\n\n",
  "  ",
  "\t",
  "\r\n",
  "\r",
  "- ",
  "> ",
  "1. ",
  "*",
  "**",
  "`",
  "[",
  "](",
  "]",
  "<br>",
  "&#10;",
  "&amp;",
  "\\",
  "\u0000",
  "\u001B[31m",
  "\u202E",
  "\uD800",
  "\uFEFF",
  "✅",
  "é",
  ":",
  "—",
  " - ",
  "#",
  "{",
  "!",
  "&x *x",
  "word",
] as const;
const text = array(constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join(""));
const anyText = oneof(text, string({ unit: "binary", maxLength: 300 }));

/** What holds for every plan, whatever the text. */
function expectSound(plan: TaskPlan, lineCount: number): void {
  const count = new Map<string, number>();
  for (const one of plan.tasks) {
    count.set(one.id.toLowerCase(), (count.get(one.id.toLowerCase()) ?? 0) + 1);
    expect(one.position.line).toBeGreaterThanOrEqual(1);
    expect(one.position.line).toBeLessThanOrEqual(lineCount);
    expect(one.statusPosition.line).toBeLessThanOrEqual(lineCount);
  }
  const done = new Set(plan.tasks.filter((one) => one.status === "done").map((one) => one.id));
  for (const one of plan.tasks.filter((candidate) => isRunnable(candidate))) {
    expect(isTaskId(one.id)).toBe(true);
    expect(["ready", "planned"]).toContain(one.status);
    expect(count.get(one.id.toLowerCase())).toBe(1);
    expect(one.dependencies.filter((id) => !done.has(id))).toEqual([]);
  }
  for (const { position } of plan.diagnostics) {
    expect(position.line).toBeGreaterThanOrEqual(1);
    expect(position.line).toBeLessThanOrEqual(lineCount);
  }
}

function countLines(value: string): number {
  return value.split(/\r\n|\n|\r/).length;
}

describe("whatever the text", () => {
  test("parsing never throws, and what is runnable is sound", () => {
    assert(
      property(anyText, (value) => {
        expectSound(planOf(value), countLines(value));
      }),
      { numRuns: 400 },
    );
  });

  test("the same for files of one task, two at a time", () => {
    assert(
      property(anyText, anyText, (one, two) => {
        const plan = planOfFiles({ "docs/tasks/a1.md": one, "docs/tasks/b2.md": two });
        expectSound(plan, Math.max(countLines(one), countLines(two)));
      }),
      { numRuns: 200 },
    );
  });

  test("the same for a good plan with anything put in anywhere", () => {
    assert(
      property(
        constantFrom(...FIXTURES),
        record({ place: nat(), removed: nat({ max: 40 }), inserted: text }),
        (name, edit) => {
          const good = fixture(name);
          const at = edit.place % (good.length + 1);
          const edited = good.slice(0, at) + edit.inserted + good.slice(at + edit.removed);
          expectSound(planOfFiles({ "docs/tasks/x.md": edited }), countLines(edited));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("what stands inside a fence never matters", () => {
    assert(
      property(text, (value) => {
        const inside = value.replaceAll("`", "'");
        const plan = planOf(
          `# Plan\n\n\`\`\`\`\n${inside}\n\`\`\`\`\n\n## T8 — A\n\nStatus: ready\n`,
        );
        expect(plan.tasks.map((one) => [one.id, one.notRunnable])).toEqual([["T8", null]]);
      }),
      { numRuns: 200 },
    );
  });
});

test("the same text gives the same plan", () => {
  for (const name of FIXTURES) expect(planOf(fixture(name))).toEqual(planOf(fixture(name)));
});
