import { join } from "node:path";
import { expect, test } from "vitest";
import { countedGit } from "./counted-git.ts";
import { type StageOptions, makeStage, runGuest } from "./rig.ts";

// The start of a program is most of what an export of little work costs, so every further one is to be seen here.

interface Work {
  readonly agent: string;
  readonly stage?: StageOptions;
  readonly base?: "without index";
}

async function startsFor({ agent, stage: options, base }: Work): Promise<readonly string[]> {
  const stage = makeStage({ fileTimes: "past", ...options });
  const { env, starts } = countedGit(stage);
  const { paths } = stage.job;
  const baseIndex = base === undefined ? paths.baseIndex : join(stage.directory, "none");
  const run = await runGuest(stage, { agent, env, job: { paths: { ...paths, baseIndex } } });
  expect(run.code, run.output).toBe(0);
  return starts();
}

/** What the way back through patches is checked with. */
const CHECK = ["apply", "mailinfo", "mailsplit", "write-tree"];
const SWEEP = ["add", "diff-index", "ls-files", "ls-files", "read-tree", "write-tree"];
const HISTORY = ["cat-file", "rev-list"];
const ONE_COMMIT = [...SWEEP, ...HISTORY, "format-patch", ...CHECK, "--version"];

test("one commit is exported with 14 starts of Git", async () => {
  const starts = await startsFor({ agent: "echo x > x; git add x; git commit -qm 'Add x'" });
  expect(starts).toEqual(ONE_COMMIT.toSorted());
});

test("an overlay takes one more: nothing of it may have come in", async () => {
  const starts = await startsFor({
    agent: "echo x > x; git add x; git commit -qm 'Add x'",
    stage: { overlay: { ".env": "SECRET=1\n" } },
  });
  expect(starts).toEqual([...ONE_COMMIT, "diff-index"].toSorted());
});

test("work that nobody committed is committed, and read back", async () => {
  const starts = await startsFor({ agent: "echo x > x" });
  const commit = ["commit-tree", "cat-file", "rev-parse"];
  // The base's own index is the one to begin with.
  const others = ONE_COMMIT.filter((one) => one !== "read-tree");
  expect(starts).toEqual([...others, ...commit].toSorted());
});

test("a message that a mail would change takes one more, for a copy that says it otherwise", async () => {
  const starts = await startsFor({
    agent: "echo x > x; git add x; git commit -qm '[core] Add x'",
  });
  expect(starts).toEqual([...ONE_COMMIT, "fast-import"].toSorted());
});

test("where no index of all files is at hand, the check works with those that change", async () => {
  const starts = await startsFor({
    agent: "echo x > x; git add x; git commit -qm 'Add x'",
    base: "without index",
  });
  const changes = [
    "rev-parse",
    "diff-tree",
    "update-index",
    "write-tree",
    "diff-tree",
    "fast-import",
  ];
  expect(starts).toEqual([...ONE_COMMIT, ...changes].toSorted());
});
