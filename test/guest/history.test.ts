import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesOf, importAsHost } from "./host-import.ts";
import { AUTHOR, git, makeStage, runGuest } from "./rig.ts";

test("a commit of the agent becomes one patch with its exact message and the agent's identity", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo four >> src/a.txt; git commit -qam "Add four" -m "Because."`,
  });
  expect(run.code).toBe(0);
  const { manifest } = importAsHost(stage, run);
  expect(manifest.history).toEqual({ kind: "linear" });
  expect(manifest.committedLeftovers).toBe(false);
  expect(manifest.agent).toEqual({ outcome: "exited", exitCode: 0, signal: null });
  expect(manifest.patches).toHaveLength(1);
  expect(manifest.patches[0]).toMatchObject({
    file: "0001-Add-four.patch",
    message: "Add four\n\nBecause.\n",
    author: AUTHOR,
  });
  expect(manifest.patches[0]?.author.date).toMatch(/^\d+ [+-]\d{4}$/);
});

test("what the agent left uncommitted is committed with its message", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo new > new.txt; rm README.md; echo four >> src/a.txt`,
  });
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.committedLeftovers).toBe(true);
  expect(imported.manifest.patches[0]).toMatchObject({
    message: "Do the task\n\nAs asked.\n",
    author: AUTHOR,
  });
  expect(filesOf(imported)).toEqual({ "new.txt": "new", "src/a.txt": "one\ntwo\nthree\nfour" });
});

test("commits and leftovers arrive as separate patches, in order", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo a > a; git add a; git commit -qm First; echo b > b; git add b; git commit -qm Second; echo c > c`,
  });
  const { manifest } = importAsHost(stage, run);
  expect(manifest.patches.map((patch) => patch.message)).toEqual([
    "First\n",
    "Second\n",
    "Do the task\n\nAs asked.\n",
  ]);
});

test("a stray staged change that was undone in the file is not exported", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo x > src/a.txt; git add src/a.txt; printf 'one\\ntwo\\nthree\\n' > src/a.txt`,
  });
  expect(run.code).toBe(71);
  expect(run.output).toContain("guardloop guest: patches is empty: nothing was changed.");
  expect(importAsHost(stage, run).manifest.patches).toEqual([]);
});

test("an identity that the agent configures itself is kept", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `git config user.name "Ada Lovelace"; git config user.email ada@example.com; echo x > x; git add x; git commit -qm X`,
  });
  expect(importAsHost(stage, run).manifest.patches[0]?.author).toMatchObject({
    name: "Ada Lovelace",
    email: "ada@example.com",
  });
});

test("an empty commit is kept as a patch without a diff", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `git commit -q --allow-empty -m "Nothing yet"; echo x > x; git add x; git commit -qm X; git commit -q --allow-empty -m "Nothing more"`,
  });
  const { manifest } = importAsHost(stage, run);
  expect(manifest.history).toEqual({ kind: "linear" });
  expect(manifest.patches.map((patch) => patch.message)).toEqual([
    "Nothing yet\n",
    "X\n",
    "Nothing more\n",
  ]);
});

test("a HEAD that went back behind the base is one patch from the base to what is there", async () => {
  const stage = makeStage({
    prepare(user) {
      git(user, ["add", "-A"]);
      git(user, ["commit", "-q", "-m", "Before"]);
      writeFileSync(join(user, "later.txt"), "later\n");
    },
  });
  const run = await runGuest(stage, { agent: "git reset -q --hard HEAD~1" });
  const { manifest } = importAsHost(stage, run);
  expect(manifest.history).toMatchObject({
    kind: "flattened",
    reason: "the base is not an ancestor of HEAD",
  });
  expect(manifest.patches).toHaveLength(1);
});

test.each([
  {
    what: "an amended base",
    agent: `echo x > x; git add x; git commit -q --amend -m "Base, better"`,
    reason: "the base is not an ancestor of HEAD",
  },
  {
    what: "an orphan branch",
    agent: `git checkout -q --orphan fresh; echo x > x; git add x; git commit -qm Fresh`,
    reason: "the base is not an ancestor of HEAD",
  },
  {
    what: "a merge",
    agent: `git checkout -q -b side; echo s > s; git add s; git commit -qm Side; git checkout -q main
            echo x > x; git add x; git commit -qm X; git merge -q --no-edit side`,
    reason: "the history has a merge commit",
  },
  {
    what: "a file that only the merge commit has",
    agent: `git checkout -q -b side; echo s > s; git add s; git commit -qm Side; git checkout -q main
            echo x > y; git add y; git commit -qm Y; git merge -q --no-commit side; echo x > x; git add x
            git commit -qm "Merge, with a surprise"`,
    reason: "the history has a merge commit",
  },
])("$what becomes one patch, and the manifest says why", async ({ agent, reason }) => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent });
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toMatchObject({ kind: "flattened", reason });
  expect(imported.manifest.patches.map((patch) => patch.message)).toEqual([
    "Do the task\n\nAs asked.\n",
  ]);
  expect(filesOf(imported)).toMatchObject({ x: "x", "src/a.txt": "one\ntwo\nthree" });
});

test("more than 1,000 commits become one patch", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `{ for i in $(seq 1001); do
      printf 'commit refs/heads/main\\ncommitter A <a@example.com> 1700000000 +0000\\ndata 2\\nc\\n'
      [ $i = 1 ] && echo "from $(git rev-parse main)"
      printf 'M 100644 inline n\\ndata <<E\\n%s\\nE\\n\\n' $i; done; } | git fast-import --quiet
      git reset -q --hard`,
  });
  const { manifest } = importAsHost(stage, run);
  expect(manifest.history).toEqual({
    kind: "flattened",
    reason: "there are more than 1000 commits",
    commits: 1001,
  });
});

test("a message that is not UTF-8 flattens, a message in a declared encoding is recoded", async () => {
  const stage = makeStage();
  const commit = `T=$(git write-tree); P=$(git rev-parse HEAD)
    make() { printf 'tree %s\\nparent %s\\nauthor A <a@x> 1700000000 +0000\\ncommitter A <a@x> 1700000000 +0000\\n%b\\nCaf\\351\\n' $T $P "$1" > ../c; git update-ref HEAD $(git hash-object -t commit -w ../c); }
    echo x > x; git add x; T=$(git write-tree);`;
  const run = await runGuest(stage, { agent: `${commit} make 'encoding ISO-8859-1\\n'` });
  const { manifest } = importAsHost(stage, run);
  expect(manifest.history).toEqual({ kind: "linear" });
  expect(manifest.patches[0]?.message).toBe("Café\n");

  const other = makeStage();
  const raw = await runGuest(other, { agent: `${commit} make ''` });
  const flat = importAsHost(other, raw).manifest;
  expect(flat.history).toMatchObject({ kind: "flattened", commits: 1 });
});

test("other branches and the reflog are not looked at", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `git checkout -q -b other; echo lost > lost; git add lost; git commit -qm Other; git checkout -q main
            echo x > x; git add x; git commit -qm X`,
  });
  const { manifest } = importAsHost(stage, run);
  expect(manifest.patches.map((patch) => patch.message)).toEqual(["X\n"]);
});

test("a detached HEAD and packed refs are read", async () => {
  const detached = makeStage();
  const one = await runGuest(detached, {
    agent: `git checkout -q --detach; echo x > x; git add x; git commit -qm X`,
  });
  expect(importAsHost(detached, one).manifest.patches[0]?.message).toBe("X\n");
  const packed = makeStage();
  const two = await runGuest(packed, {
    agent: `git checkout -q -b 'féature/x'; echo x > x; git add x; git commit -qm X; git pack-refs --all; git gc -q`,
  });
  expect(importAsHost(packed, two).manifest.patches[0]?.message).toBe("X\n");
});

test("the transport never runs a program the agent configured", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `
      M="touch ${stage.directory}/marker;"
      printf '#!/bin/sh\\n%s cat\\n' "$M" > ../evil; chmod +x ../evil
      mkdir -p .git/hooks; for h in pre-commit post-index-change reference-transaction; do cp ../evil .git/hooks/$h; done
      mkdir -p .git/info; echo '* filter=evil diff=evil' > .git/info/attributes; cp .git/info/attributes .gitattributes
      echo x > x
      for k in core.fsmonitor core.hooksPath filter.evil.clean filter.evil.process diff.evil.command diff.evil.textconv diff.external gpg.program; do
        git config $k "$PWD/../evil"; git config --global $k "$PWD/../evil"; done`,
  });
  expect(() => readFileSync(join(stage.directory, "marker"))).toThrow("ENOENT");
  expect(filesOf(importAsHost(stage, run))).toMatchObject({ x: "x" });
});
