import { describe, expect, test } from "vitest";
import { ids, planOf, planOfFiles, said, task } from "./plan-rig.ts";

describe("duplicate ids", () => {
  test("in one file: neither runs, and the message has both lines", () => {
    const plan = planOf("## T1 — A\n\nStatus: ready\n\n## T1 — B\n\nStatus: done\n");
    expect(plan.tasks.map((one) => one.notRunnable)).toEqual([
      "has an id that is used twice",
      "has an id that is used twice",
    ]);
    expect(said(plan)).toEqual([
      "docs/TASKS.md:5 The task id T1 is used already at docs/TASKS.md:1, so neither is run; rename one.",
    ]);
  });

  test("across files and in another case: the same", () => {
    const plan = planOfFiles({
      "docs/TASKS.md": "## US-8 — A\n\nStatus: ready\n",
      "docs/tasks/us-8.md": "# Validate names\n\nStatus: ready\n",
    });
    expect(ids(plan)).toEqual(["US-8", "us-8"]);
    expect(plan.tasks.every((one) => one.notRunnable === "has an id that is used twice")).toBe(
      true,
    );
    expect(said(plan)).toEqual([
      "docs/tasks/us-8.md:1 The task id us-8 is used already at docs/TASKS.md:1 as US-8 (case does not count), so neither is run; rename one.",
    ]);
  });

  test("a done task does not free its dependents while its id is used twice", () => {
    const plan = planOf(
      "## T1 — A\n\nStatus: done\n\n## T1 — B\n\nStatus: done\n\n## T2 — C\n\nStatus: ready\nDepends on: T1\n",
    );
    expect(task(plan, "T2").notRunnable).toBe("waits for T1 (id used twice)");
  });
});

describe("ids that cannot become a branch", () => {
  test.each([
    "T1..2",
    "T1.lock",
    "T1.",
    "../T1",
    "T1/2",
    "-T1",
    "T1~",
    "Ä1",
    "T1@{0}",
    "T\u001B[31m1",
    "T\u202E1",
    `T1${"0".repeat(64)}`,
  ])("%j is listed but not run, and said", (id) => {
    const plan = planOf(`# Plan\n\n## ${id} — A\n\nStatus: ready\n`);
    expect(ids(plan)).toEqual([id]);
    expect(plan.tasks[0]?.notRunnable).toBe("has an id that cannot be part of a branch name");
    expect(said(plan)[0]).toMatch(
      /^docs\/TASKS\.md:3 The task id .* cannot be part of a branch name/s,
    );
  });

  test("the same for an id from front matter or a file's name", () => {
    const plan = planOfFiles({
      "docs/tasks/a.md": "---\nid: ../../x\nstatus: ready\n---\n",
      "docs/tasks/add login.md": "# Add login\n\nStatus: ready\n",
    });
    expect(plan.tasks.map((one) => [one.id, one.notRunnable])).toEqual([
      ["../../x", "has an id that cannot be part of a branch name"],
      ["add login", "has an id that cannot be part of a branch name"],
    ]);
  });
});

test("hostile text is kept as data", () => {
  const title = "Do \u001B]0;x\u0007 this \u202Enow";
  const plan = planOf(`## T1 — ${title}\n\nStatus: ready\n\nCompletion signal:\n- \u001B[2J\n`);
  expect(task(plan, "T1")).toMatchObject({ title, acceptance: ["\u001B[2J"], notRunnable: null });
});
