import { describe, expect, test } from "vitest";
import { agentBranch, isTaskId, newRunId } from "../../src/core/ids.ts";
import { createRef, readRef } from "../../src/git/publish.ts";
import { sampleRepository } from "../lease/sample-repository.ts";

const RUN = newRunId(new Date("2026-11-29T16:47:12Z"), () => new Uint8Array(5));

// What git-check-ref-format(1) refuses, what it lets through, and what fails only when the ref is written.
const REFUSED_BY_GIT = [
  "a..b",
  "a@{b",
  "a.lock",
  "a.lock/b",
  ".a",
  "a b",
  "a~",
  "a^",
  "a:",
  "a?",
  "a*",
  "a[",
  "a\\b",
  "a//b",
  "a/",
  "a.",
  "a\u0007",
  "a\u007F",
  "",
];
const ACCEPTED_BY_GIT = [
  "-x",
  "--upload-pack=x",
  "@",
  "é",
  "\u202Egnp",
  "a\u200Bb",
  "$(id)",
  "`id`",
  "a;b",
  "a|b",
  "a<b",
  "a&b",
  "a'b",
  'a"b',
  "a{b}",
  "a%b",
  "a/b",
  "refs/heads/main",
];
const FAILS_LATE = ["a".repeat(256), "a".repeat(65)];

describe("E134: a text that is no part of a branch name is no task id", () => {
  test.each([...REFUSED_BY_GIT, ...ACCEPTED_BY_GIT, ...FAILS_LATE])("%j", (text) => {
    expect(isTaskId(text)).toBe(false);
  });
});

test("a branch of any task id is one that Git takes, short, and below agent/", async () => {
  const { git } = sampleRepository();
  for (const id of ["T1", "HEAD", "con", "a".repeat(64), "0", "a._-b", "US-8"]) {
    expect(isTaskId(id)).toBe(true);
    const branch = agentBranch(id, RUN);
    expect(branch).toMatch(/^agent\/[A-Za-z0-9][A-Za-z0-9._-]*$/);
    expect(branch.length).toBeLessThanOrEqual(100);
    expect((await git.exec(["check-ref-format", "--branch", branch])).code).toBe(0);
  }
});

describe("publishing", () => {
  test.each(["refs/heads/a..b", "refs/heads/a.lock", "refs/heads/a b", "refs/heads/-\u0007"])(
    "under %j: refused before anything is written",
    async (ref) => {
      const repository = sampleRepository();
      const made = await createRef(repository.git, ref, repository.head());
      expect(made).toMatchObject({ error: { code: "git-failed" } });
      expect(!made.ok && made.error.message).toContain("is not a name that Git takes");
    },
  );

  test("where a branch lies below that name: refused, and it stays", async () => {
    const repository = sampleRepository();
    const branch = agentBranch("T1", RUN);
    repository.run(["branch", `${branch}/y`]);
    const made = await createRef(repository.git, `refs/heads/${branch}`, repository.head());
    expect(made).toMatchObject({
      error: {
        code: "branch-exists",
        message: `refs/heads/${branch} cannot be created: refs/heads/${branch}/y is in its place.`,
      },
    });
    expect(await readRef(repository.git, `refs/heads/${branch}/y`)).toBe(repository.head());
  });

  test("where a branch is what would be its directory: refused, and it stays", async () => {
    const repository = sampleRepository();
    repository.run(["branch", "agent"]);
    const ref = `refs/heads/${agentBranch("T1", RUN)}`;
    expect(await createRef(repository.git, ref, repository.head())).toMatchObject({
      error: {
        code: "branch-exists",
        message: `${ref} cannot be created: refs/heads/agent is in its place.`,
      },
    });
  });

  test("beside a branch whose name differs in case alone: it is another one, and stays", async () => {
    const repository = sampleRepository();
    const twin = agentBranch("t1", RUN);
    repository.run(["branch", twin, repository.firstCommit]);
    const made = await createRef(
      repository.git,
      `refs/heads/${agentBranch("T1", RUN)}`,
      repository.head(),
    );
    expect(made.ok).toBe(true);
    expect(await readRef(repository.git, `refs/heads/${twin}`)).toBe(repository.firstCommit);
  });
});
