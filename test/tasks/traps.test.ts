import { describe, expect, test } from "vitest";
import { ids, planOf, planOfFiles, said, task } from "./plan-rig.ts";

describe("a Status that makes no task", () => {
  test.each([
    ["in a code fence", "```md\nStatus: ready\n```"],
    ["in a fence of tildes", "~~~\nStatus: ready\n~~~"],
    ["in a fence that is never closed", "```\nStatus: ready"],
    ["in indented code", "    Status: ready"],
    ["in inline code", "`Status: ready`"],
    ["in a comment", "<!-- Status: ready -->"],
    ["in a comment over lines", "<!--\n\nStatus: ready\n\n-->"],
    ["in an HTML block", "<div>\nStatus: ready\n</div>"],
    ["in prose", "We write Status: ready when it is time."],
    ["in prose, bold", "The label **Status:** Ready for review is set by people."],
    ["at the start of a wrapped line of prose", "When it is time we set\nStatus: ready\nand go."],
    ["struck through", "~~Status: ready~~"],
    ["in a quote", "> Status: ready"],
    ["in a nested list", "- Notes\n  - Status: ready"],
    ["in a box to tick", "- [ ] Status: ready"],
    ["in a list below another label", "Test-first plan:\n- Status: ready is shown"],
    ["below acceptance criteria", "#### Acceptance Criteria\n\n- Status: ready"],
    ["in a table of many columns", "| Task | Owner | Status |\n|-|-|-|\n| T1 | x | ready |"],
    [
      "in the head of a table of many columns",
      "| Status | Task | Owner |\n|-|-|-|\n| ready | T1 | x |",
    ],
    ["in a heading", "#### Status: ready"],
    ["with another label", "Current status: ready"],
    ["with no colon", "Status ready"],
    ["as a link definition", "[Status]: ready"],
  ])("%s", (_where, text) => {
    expect(planOf(`# Plan\n\n## T1 — A\n\n${text}\n`).tasks).toEqual([]);
  });

  test("in the middle of a paragraph it is at least pointed out", () => {
    expect(said(planOf("## T1 — A\n\nCompute the tax.\nStatus: ready\n"))).toEqual([
      "docs/TASKS.md:4 The Status of T1 stands in the middle of a paragraph, so T1 is not read as a task; put an empty line above it.",
    ]);
  });

  test("above the first heading, below the title, and in a section without an id", () => {
    const plan = planOf(
      "Status: ready\n\n# Plan\n\nStatus: ready\n\n> Status: ready\n\n## Summary\n\nStatus: done\n\n## T1 — A\n\nStatus: done\n",
    );
    expect(ids(plan)).toEqual(["T1"]);
    expect(task(plan, "T1").status).toBe("done");
  });

  test("a heading inside a fence, a comment, a quote or a list", () => {
    const shown = "## T1 — A\n\nStatus: ready\n";
    const quoted = shown.replaceAll(/^/gm, "> ");
    const listed = shown.replaceAll(/^/gm, "  ").replace("  ", "- ");
    const plans = [`\`\`\`md\n${shown}\`\`\``, `<!--\n${shown}-->`, quoted, listed].map((text) =>
      planOf(`# Plan\n\nWrite tasks so:\n\n${text}\n`),
    );
    expect(plans.flatMap((plan) => plan.tasks)).toEqual([]);
  });

  test("a fence that is open across a place where long files are cut", () => {
    const shown = "## T1 — A\n\nStatus: ready\n\n";
    const plan = planOf(
      `# Plan\n\n\`\`\`\n${shown.repeat(2000)}\`\`\`\n\n## T2 — B\n\nStatus: ready\n`,
    );
    expect(plan.tasks.map((one) => [one.id, one.position.line])).toEqual([["T2", 8006]]);
  });
});

describe("a whole file not to be executed", () => {
  const TASKS = "## T1 — A\n\nStatus: ready\n\n## T2 — B\n\nStatus: planned\n";

  test.each([
    "> **Status:** Historical … do not execute",
    "> **Status:** Kept for the record;\n> do not execute.",
    "**Status:** historical",
    "Status: superseded by docs/TASKS2.md",
    "- Status: not for execution",
    "Status: archived",
  ])("%j keeps its tasks from running", (mark) => {
    const plan = planOf(`# Plan\n\n${mark}\n\n${TASKS}`);
    expect(plan.tasks.map((one) => [one.status, one.notRunnable])).toEqual([
      ["ready", "is in a file marked as not to be executed (line 3)"],
      ["planned", "is in a file marked as not to be executed (line 3)"],
    ]);
  });

  test("front matter can say so too", () => {
    const plan = planOf(`---\nstatus: archived\n---\n# Plan\n\n${TASKS}`);
    expect(plan.tasks.map((one) => one.notRunnable)).toEqual([
      "is in a file marked as not to be executed (line 2)",
      "is in a file marked as not to be executed (line 2)",
    ]);
  });

  test("other files go on, and its done tasks still count as done", () => {
    const plan = planOfFiles({
      "docs/tasks/old.md": "# Old\n\nStatus: archived\n\n## T1 — A\n\nStatus: done\n",
      "docs/tasks/new.md": "# New\n\n## T2 — B\n\nStatus: ready\n\nDepends on: T1\n",
    });
    expect(task(plan, "T2").notRunnable).toBeNull();
  });

  test.each(["Status: ready", "> Status: planned", "Status: in progress", "Do not execute twice."])(
    "%j at the top changes nothing",
    (mark) => {
      const plan = planOf(`# Plan\n\n${mark}\n\n${TASKS}`);
      expect(plan.tasks.map((one) => one.notRunnable)).toEqual([null, null]);
    },
  );
});

describe("line ends and marks", () => {
  const TEXT =
    "# Plan\n\n## T1 — A\n\nStatus: ready\nNotes:\n- x\n  Status: done\nDependencies:\n- T2\n\n## T2 — B\n\nStatus: done\n";

  test.each([
    ["CRLF", TEXT.replaceAll("\n", "\r\n")],
    ["CR", TEXT.replaceAll("\n", "\r")],
    ["a byte order mark", `\uFEFF${TEXT}`],
    ["both", `\uFEFF${TEXT.replaceAll("\n", "\r\n")}`],
    ["no last line end", TEXT.trimEnd()],
    ["trailing spaces", TEXT.replaceAll("\n", "  \n")],
  ])("%s changes neither tasks nor lines", (_name, text) => {
    expect(planOf(text)).toEqual(planOf(TEXT));
    expect(planOf(text).tasks.map((one) => one.position.line)).toEqual([3, 12]);
    expect(task(planOf(text), "T1").dependencies).toEqual(["T2"]);
  });

  test("front matter works after a byte order mark and with CRLF", () => {
    const text = "\uFEFF---\nid: T7\nstatus: ready\n---\n# Title\n".replaceAll("\n", "\r\n");
    const plan = planOfFiles({ "docs/tasks/x.md": text });
    expect(task(plan, "T7")).toMatchObject({ notRunnable: null, statusPosition: { line: 3 } });
  });
});
