import { expect, test } from "vitest";
import { PLAN_LIMITS } from "../../src/tasks/plan-limits.ts";
import { ids, planOfFiles, said } from "./plan-rig.ts";

const TASK = "## T1 — A\n\nStatus: ready\n\n";
const OTHER = { "docs/tasks/b.md": "# T2: B\n\nStatus: ready\n" };

test("a file above the limit is left out by name; the others are read", () => {
  const text = TASK + "x\n\n".repeat(PLAN_LIMITS.fileBytes / 3);
  const plan = planOfFiles({ "docs/TASKS.md": text, ...OTHER });
  expect(ids(plan)).toEqual(["T2"]);
  expect(said(plan)).toEqual([
    `docs/TASKS.md:1 This plan file has ${text.length + 2} bytes and is not read: the limit is 1048576. Split it.`,
  ]);
});

test("more files than the limit are left out by name", () => {
  const files = Object.fromEntries(
    Array.from({ length: PLAN_LIMITS.files + 1 }, (_, index) => [
      `docs/tasks/t${index}.md`,
      `# T${index}: A\n\nStatus: ready\n`,
    ]),
  );
  const plan = planOfFiles(files);
  expect(plan.tasks).toHaveLength(PLAN_LIMITS.files);
  expect(said(plan)).toEqual([
    "docs/tasks/t500.md:1 This plan file is not read: a plan may have 500 files. Name fewer with --plan.",
  ]);
});

test("files that are too much together are left out by name", () => {
  const big = `# Prose\n${"x".repeat(PLAN_LIMITS.fileBytes - 100)}`;
  const plan = planOfFiles({ "a.md": big, "b.md": big, "c.md": big, "d.md": big, "e.md": big });
  expect(said(plan)).toHaveLength(1);
  expect(said(plan)[0]).toMatch(
    /^e\.md:1 This plan file is not read: the files of a plan may have/,
  );
});

test.each([
  ["quotes", `${"> ".repeat(200)}a`],
  ["bullets", `${"- ".repeat(200)}a`],
  ["numbers", `${"1. ".repeat(200)}a`],
  ["an indented list", `${" ".repeat(200)}- a`],
])("a file nested too deeply with %s is left out with the line", (_name, line) => {
  const plan = planOfFiles({ "docs/TASKS.md": TASK + line, ...OTHER });
  expect(ids(plan)).toEqual(["T2"]);
  expect(said(plan)).toEqual([
    "docs/TASKS.md:5 What begins here is nested too deeply, so no task of this file is read. Simplify or split it.",
  ]);
});

test("a long rule is not nesting", () => {
  const plan = planOfFiles({
    "docs/TASKS.md": `${TASK}${"- ".repeat(60)}\n\n${"*".repeat(200)}\n`,
  });
  expect(ids(plan)).toEqual(["T1"]);
});

test("a stretch without headings that is too long is left out with the line it begins at", () => {
  const plan = planOfFiles({ "docs/TASKS.md": TASK + "word ".repeat(20_000), ...OTHER });
  expect(ids(plan)).toEqual(["T2"]);
  expect(said(plan)[0]).toMatch(/^docs\/TASKS\.md:1 What begins here is a stretch of more than/);
});

test("a long file is read whole, with the right lines", () => {
  const text = Array.from(
    { length: 3000 },
    (_, index) => `## T${index} — A\n\nStatus: ready\n\nSome words about it.\n\n`,
  ).join("");
  const plan = planOfFiles({ "docs/TASKS.md": text });
  expect(plan.tasks).toHaveLength(3000);
  expect(plan.tasks.every((one, index) => one.position.line === index * 6 + 1)).toBe(true);
  expect(plan.tasks.every((one, index) => one.statusPosition.line === index * 6 + 3)).toBe(true);
});

test("a byte order mark hides no nesting", () => {
  expect(said(planOfFiles({ "a.md": `\uFEFF${"> ".repeat(200)}Status: ready` }))[0]).toMatch(
    /^a\.md:1 What begins here is nested too deeply/,
  );
});
