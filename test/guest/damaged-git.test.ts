import { expect, test } from "vitest";
import { filesOf, importAsHost } from "./host-import.ts";
import { makeStage, runGuest } from "./rig.ts";

const COMMIT = `echo x > x; git add x; git commit -qm X; echo y > y;`;

test.each([
  { what: "deleted", agent: `rm -rf .git`, reason: "the repository's .git is gone" },
  {
    what: "replaced by a file that points elsewhere",
    agent: `mv .git ../moved; echo "gitdir: ../moved" > .git`,
    reason: "the repository's .git is not a directory any more",
  },
  {
    what: "replaced by a symbolic link",
    agent: `mv .git ../moved; ln -s ../moved .git`,
    reason: "the repository's .git is not a directory any more",
  },
  { what: "without a HEAD", agent: `rm .git/HEAD`, reason: "HEAD is not readable" },
  {
    what: "with a HEAD that is a symbolic link",
    agent: `mv .git/HEAD ../h; ln -s ../../h .git/HEAD`,
    reason: "HEAD is not readable",
  },
  {
    what: "with a HEAD that is a FIFO",
    agent: `rm .git/HEAD; mkfifo .git/HEAD`,
    reason: "HEAD is not readable",
  },
  {
    what: "with a HEAD that leads out of refs",
    agent: `echo "ref: refs/../../../x" > .git/HEAD`,
    reason: "HEAD is not readable",
  },
  {
    what: "on a branch without a commit",
    agent: `git symbolic-ref HEAD refs/heads/unborn`,
    reason: "HEAD has no commit",
  },
  {
    what: "with refs behind a symbolic link",
    agent: `mv .git/refs ../refs; ln -s ../../refs .git/refs`,
    reason: "HEAD has no commit",
  },
  {
    what: "with a HEAD that names a commit that is not there",
    agent: `echo 1234567890123456789012345678901234567890 > .git/HEAD`,
    reason: "the agent's commits could not be read or exported",
  },
  {
    what: "with a HEAD that names a tree",
    agent: `git rev-parse HEAD^{tree} > ../t; cat ../t > .git/HEAD`,
    reason: "the agent's commits could not be read or exported",
  },
  {
    what: "without its objects",
    agent: `rm -rf .git/objects`,
    reason: "the agent's commits could not be read or exported",
  },
  {
    what: "with a missing file object",
    agent: `echo z > z; git add z; git commit -qm Z; B=$(git rev-parse HEAD:z); git rm -q z; git commit -qm "Z away"
            rm -f .git/objects/$(echo $B | cut -c1-2)/$(echo $B | cut -c3-)`,
    reason: "the agent's commits could not be read or exported",
  },
  {
    what: "with a file object that holds something else",
    agent: `B=$(git rev-parse HEAD:x); O=$(echo other | git hash-object -w --stdin)
            p() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }; rm -f $(p $B); cp $(p $O) $(p $B)`,
    reason: "the agent's commits could not be read or exported",
  },
])("a .git $what costs the history but not the files", async ({ agent, reason }) => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent: COMMIT + agent });
  expect(run.output).not.toContain("the host will refuse");
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toEqual({ kind: "flattened", reason, commits: 0 });
  expect(filesOf(imported)).toEqual({
    "README.md": "# Sample",
    "src/a.txt": "one\ntwo\nthree",
    x: "x",
    y: "y",
  });
});

test("a directory object that holds something else costs the single commits, and never the import", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `mkdir d; echo x > d/x; git add d; git commit -qm X; echo y > y; T=$(git rev-parse HEAD:d)
      O=$(printf '100644 blob %s\\tx\\n' $(echo other | git hash-object -w --stdin) | git mktree)
      p() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }; rm -f $(p $T); cp $(p $O) $(p $T)`,
  });
  expect(run.output).not.toContain("the host will refuse");
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toMatchObject({ kind: "flattened" });
  expect(filesOf(imported)).toMatchObject({ "d/x": "x", y: "y" });
});

test("a stale index.lock and a failing commit hook do not stop the export", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `mkdir -p .git/hooks; for h in pre-commit commit-msg; do printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done
            echo x > x; git add x; git commit -qm X || true; touch .git/index.lock`,
  });
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toEqual({ kind: "linear" });
  expect(filesOf(imported)).toMatchObject({ x: "x" });
});

test("replaced objects and grafts do not hide what was committed", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `B=$(git rev-parse HEAD); echo evil > evil; git add evil; git commit -qm Evil; git replace HEAD $B; git rev-parse HEAD > .git/shallow`,
  });
  const imported = importAsHost(stage, run);
  expect(imported.manifest.patches.map((patch) => patch.message)).toEqual(["Evil\n"]);
  expect(filesOf(imported)).toMatchObject({ evil: "evil" });
});

test("repository data that was moved inside the workspace is left out and reported", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo x > x; git init -q --separate-git-dir "$PWD/.data"`,
  });
  const imported = importAsHost(stage, run);
  expect(Object.keys(filesOf(imported))).toEqual(["README.md", "src/a.txt", "x"]);
  expect(imported.manifest.ignoredLeftBehind).toEqual({ total: 1, names: [".data/"] });
});

test("an agent that deletes everything gives a patch that deletes everything", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent: `rm -rf ./* .git` });
  expect(run.code).toBe(0);
  expect(filesOf(importAsHost(stage, run))).toEqual({});
});

test("a history that was made shallow is not cut: the base decides", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo x > x; git add x; git commit -qm X; echo y > y; git add y; git commit -qm Y
            git rev-parse HEAD > .git/shallow; git log --format=%s > seen`,
  });
  const imported = importAsHost(stage, run);
  expect(filesOf(imported)).toMatchObject({ seen: "Y" });
  expect(imported.manifest.patches.map((patch) => patch.message)).toEqual([
    "X\n",
    "Y\n",
    "Do the task\n\nAs asked.\n",
  ]);
});

test("files that a sparse checkout took away are gone, and that is what arrives", async () => {
  const stage = makeStage({ files: { "src/a.txt": "a\n", "docs/b.txt": "b\n" } });
  const run = await runGuest(stage, {
    agent: `git sparse-checkout set src 2>/dev/null; echo x > src/x`,
  });
  expect(Object.keys(filesOf(importAsHost(stage, run)))).toEqual(["src/a.txt", "src/x"]);
});

test("refs in another format cost the history but not the files", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `${COMMIT} mkdir .git/reftable; echo junk > .git/reftable/tables.list
            git config core.repositoryFormatVersion 1; git config extensions.refStorage reftable
            echo 'ref: refs/heads/.invalid' > .git/HEAD`,
  });
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toMatchObject({
    kind: "flattened",
    reason: "HEAD is not readable",
  });
  expect(filesOf(imported)).toMatchObject({ x: "x", y: "y" });
});
