import { describe, expect, test } from "vitest";
import { fixture, ids, planOfFiles, said, task } from "./plan-rig.ts";

const FILES = {
  "docs/tasks/add-login.md": fixture("add-login"),
  "docs/tasks/names.md": fixture("us-005"),
  "docs/tasks/us-008.md": fixture("us-008"),
};

function oneFile(text: string, path = "docs/tasks/some-task.md") {
  return planOfFiles({ [path]: text });
}

describe("one file a task", () => {
  const plan = planOfFiles(FILES);

  test("the id comes from the front matter, from the heading, else from the file's stem", () => {
    expect(ids(plan)).toEqual(["add-login", "US-005", "US-008"]);
    expect(said(plan)).toEqual([]);
  });

  test("a quoted block gives status and dependencies", () => {
    expect(task(plan, "US-008")).toEqual({
      id: "US-008",
      title: "Validate branch names",
      status: "ready",
      statusText: "ready",
      dependencies: ["US-005"],
      acceptance: ['rejects ".."', "accepts a dot"],
      position: { file: "docs/tasks/us-008.md", line: 1 },
      statusPosition: { file: "docs/tasks/us-008.md", line: 3 },
      notRunnable: null,
    });
  });

  test("front matter gives everything, with the line of each key", () => {
    expect(task(plan, "US-005")).toMatchObject({
      title: "Read branch names",
      status: "done",
      acceptance: ["reads them"],
      position: { line: 2 },
      statusPosition: { line: 4 },
    });
  });

  test("a Status line below the title is enough; dependencies are found whatever their case", () => {
    expect(task(plan, "add-login")).toMatchObject({
      title: "Add a login page",
      status: "ready",
      dependencies: ["US-008", "US-005"],
      acceptance: ["A wrong password is refused."],
      notRunnable: "waits for US-008 (ready)",
    });
  });
});

describe("front matter", () => {
  test.each([
    ["depends_on: [TASK-9]", ["TASK-9"]],
    ["depends_on:\n  - TASK-9\n  - other", ["TASK-9", "other"]],
    ["dependencies: TASK-9, TASK-10", ["TASK-9", "TASK-10"]],
    ["depends-on: TASK-9", ["TASK-9"]],
    ["dependsOn: ['TASK-9']", ["TASK-9"]],
    ["depends_on: []", []],
    ["depends_on:", []],
    ["depends_on: None", []],
    ["depends_on: [docs/adr/1.md]", []],
  ])("%j depends on %j", (yaml, dependencies) => {
    const plan = oneFile(`---\nid: TASK-12\nstatus: ready\n${yaml}\n---\n`);
    expect(task(plan, "TASK-12").dependencies).toEqual(dependencies);
  });

  test("a number is an id as it is written", () => {
    expect(ids(oneFile("---\nid: 1.10\nstatus: ready\n---\n"))).toEqual(["1.10"]);
    expect(ids(oneFile("---\nid: 007\nstatus: ready\n---\n"))).toEqual(["007"]);
  });

  test("without an id the heading or the stem names the task", () => {
    expect(ids(oneFile("---\nstatus: ready\n---\n# T7: Title\n"))).toEqual(["T7"]);
    expect(ids(oneFile("---\nstatus: ready\n---\n# Title\n"))).toEqual(["some-task"]);
    expect(ids(oneFile("---\nstatus: ready\n---\nText.\n"))).toEqual(["some-task"]);
  });

  test("a status in the body counts when the front matter has none", () => {
    const plan = oneFile("---\nid: T7\n---\n# Title\n\nStatus: done\n");
    expect(task(plan, "T7")).toMatchObject({ status: "done", statusPosition: { line: 6 } });
  });

  test("front matter and body that disagree keep the task from running", () => {
    const plan = oneFile(
      "---\nid: T7\nstatus: ready\n---\n# Title\n\n> **Status:** Historical, do not execute\n",
    );
    expect(task(plan, "T7").notRunnable).toBe("has two Status lines that differ (lines 3 and 7)");
  });

  test.each(["assignee: @someone", "status: done", "title: a: b"])(
    "YAML that is not valid (%j) keeps the task from running and names the line",
    (line) => {
      const plan = oneFile(`---\nid: T7\nstatus: ready\n${line}\n---\n`);
      expect(task(plan, "T7").notRunnable).toBe("has front matter that is not valid YAML (line 4)");
      expect(said(plan)).toEqual([
        "docs/tasks/some-task.md:4 The front matter is not valid YAML, so the task is not run; correct it here.",
      ]);
    },
  );

  test("an id without a status is pointed out", () => {
    expect(said(oneFile("---\nid: T7\n---\n# Title without a state; status follows\n"))).toEqual([
      "docs/tasks/some-task.md:2 The front matter has an id but the file has no status, so it is not read as a task; add `status: ready`.",
    ]);
  });
});

describe("files that are no task", () => {
  test.each([
    ["docs/tasks/README.md", "# How we work\n\nStatus: ready\n"],
    ["docs/tasks/_template.md", "# Title\n\nStatus: ready\n"],
    ["docs/TASKS.md", "# T1: Shop\n\nStatus: ready\n\n- [ ] P1: a box\n"],
    ["docs/tasks/cart.md", "# Cart Task Plan\n\nStatus: ready\n"],
    ["docs/tasks/cart.md", "# Cart\n\nStatus: ready\n\n## T1 — No status of its own\n"],
    ["docs/tasks/cart.md", "Status: ready\n\n# Cart\n"],
    ["docs/tasks/cart.md", "# Cart\n\n## Example\n\nStatus: ready\n"],
    ["docs/tasks/cart.md", "# Cart\n\nThe status: ready tasks come first.\n"],
  ])("%s with %j has none", (path, text) => {
    expect(oneFile(text, path).tasks).toEqual([]);
  });

  test("a feature file with tasks of its own is a plan, whatever status stands at its top", () => {
    const plan = oneFile("# US-1: Cart\n\n> Status: ready\n\n## T1 — A\n\nStatus: done\n");
    expect(ids(plan)).toEqual(["T1"]);
  });

  test("sections for acceptance criteria with ids do not make a plan of it", () => {
    const plan = oneFile("# Cart\n\nStatus: ready\n\n## AC-1: adds up\n");
    expect(ids(plan)).toEqual(["some-task"]);
  });
});
