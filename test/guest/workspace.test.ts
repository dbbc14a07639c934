import { chmodSync, chownSync, lstatSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { GUEST_EXPORTS } from "../../src/core/artifacts.ts";
import { filesOf, importAsHost } from "./host-import.ts";
import { git, makeStage, put, runGuest } from "./rig.ts";

/** `MODE PATH` of the final tree. */
function modesOf(imported: ReturnType<typeof importAsHost>): readonly string[] {
  const rows = git(imported.quarantine, ["--git-dir=.", "ls-tree", "-r", imported.finalTree]);
  return rows.split("\n").map((row) => row.replace(/^(\d+) \S+ \S+\t/, "$1 "));
}

test("strange file names arrive byte for byte", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `
      n() { printf '%s\\n' "$1" > "./$1"; }
      n 'with space'; n ' leading'; n 'trailing '; n '-rf'; n '--help'; n 'quo"te'; n "apo'strophe"; n 'back\\slash'
      n "$(printf 'new\\nline')"; n "$(printf 'tab\\there')"; n "$(printf 'esc\\033[31m')"; n 'ünï'; n ':colon'; n '!bang'
      n '#hash'; n '*star*'; n '[set]'; mkdir 'dir '; n 'dir /f'; n ':(exclude)x'
      printf 'latin1\\n' > "$(printf 'caf\\351')"; printf 'cr\\n' > "$(printf 'cr\\r')"
      git add -- -rf 'ünï'; git commit -qm "Some first"`,
  });
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toEqual({ kind: "linear" });
  expect(imported.manifest.ignoredLeftBehind.total).toBe(0);
  git(stage.workspace, ["add", "-A"]);
  expect(git(stage.workspace, ["write-tree"])).toBe(imported.finalTree);
  expect(modesOf(imported)).toHaveLength(2 + 21);
});

test("symbolic links, modes and changes of type arrive", async () => {
  const stage = makeStage({
    files: { a: "a\n", "run.sh": "#!/bin/sh\n", "dir/f": "f\n", "plain.sh": "x\n" },
    prepare: (user) => {
      chmodSync(join(user, "run.sh"), 0o755);
      symlinkSync("a", join(user, "link"));
    },
  });
  const run = await runGuest(stage, {
    agent: `ln -s /etc/passwd absolute; ln -s nowhere dangling; chmod -x run.sh; chmod +x plain.sh
            rm -r dir; ln -s a dir; rm link; mkdir link; echo in > link/f; rm a; mkdir a; echo b > a/b`,
  });
  const imported = importAsHost(stage, run);
  expect(modesOf(imported)).toEqual([
    "100644 a/b",
    "120000 absolute",
    "120000 dangling",
    "120000 dir",
    "100644 link/f",
    "100755 plain.sh",
    "100644 run.sh",
  ]);
});

test("binary files, long lines, NULs after text and missing final newlines arrive", async () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7) % 256));
  const stage = makeStage({ files: { bin: bytes, text: "no newline" } });
  const run = await runGuest(stage, {
    agent: `printf 'more\\000\\001\\r\\n' >> bin; printf ' and still none' >> text; : > empty
            head -c 300000 /dev/zero | tr '\\0' x > long; { seq 3000; printf 'nul\\000here\\n'; seq 10; } > late-nul
            git add -A; git commit -qm "All kinds"; sed -i 's/^7$/seven/' late-nul; rm bin`,
  });
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toEqual({ kind: "linear" });
  expect(imported.manifest.patches).toHaveLength(2);
});

test("carriage returns arrive, with and without attributes", async () => {
  const stage = makeStage({
    files: { "crlf.txt": "a\r\nb\r\n", ".gitattributes": "*.bat text eol=crlf\n" },
  });
  const run = await runGuest(stage, {
    agent: `printf 'a\\r\\nB\\r\\nlone\\rcr\\n' > crlf.txt; printf 'new\\r\\n' > new.txt; printf 'dir\\r\\n' > x.bat; printf '\\r' > only`,
  });
  expect(run.output).toBe(`${GUEST_EXPORTS}\n`);
  expect(filesOf(importAsHost(stage, run))).toMatchObject({
    "crlf.txt": "a\r\nB\r\nlone\rcr",
    "new.txt": "new\r",
    "x.bat": "dir",
  });
});

test("attributes that the agent adds do not rewrite files that nobody touched", async () => {
  const stage = makeStage({ files: { "crlf.txt": "a\r\n", other: "o\n" }, fileTimes: "past" });
  const run = await runGuest(stage, {
    agent: `echo more >> other; git commit -qam "Edit the other"; echo '* text' > .gitattributes`,
  });
  expect(filesOf(importAsHost(stage, run))).toMatchObject({ "crlf.txt": "a\r" });
});

test("an attribute that makes git give up costs conversions, not work", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `echo '*.txt working-tree-encoding=UTF-16' > .gitattributes; printf 'odd' > odd.txt; echo x > x`,
  });
  expect(run.code).toBe(0);
  expect(filesOf(importAsHost(stage, run))).toMatchObject({ "odd.txt": "odd", x: "x" });
});

test("overlay files are never swept into a commit, whatever .gitignore says", async () => {
  const overlay = { ".env": "SECRET=1\n", "vendor/lib/x.js": "x\n", "od[d] *name ": "odd\n" };
  const stage = makeStage({ overlay });
  const run = await runGuest(stage, {
    agent: `printf '!.env\\n!vendor/\\n!*\\n' > .gitignore; echo mine > vendor/lib/mine.js; echo CHANGED >> .env; echo x > x`,
  });
  const imported = importAsHost(stage, run);
  expect(Object.keys(filesOf(imported))).toEqual([
    ".gitignore",
    "README.md",
    "src/a.txt",
    "vendor/lib/mine.js",
    "x",
  ]);
  expect(imported.manifest.ignoredLeftBehind).toEqual({ total: 0, names: [] });
});

test("ignored files that the agent made are listed, overlay files are not", async () => {
  const stage = makeStage({
    files: { ".gitignore": "*.log\nbuild/\nnode_modules/\n", a: "a\n" },
    overlay: { "node_modules/dep/index.js": "x\n", "own.log": "x\n" },
  });
  const run = await runGuest(stage, {
    agent: `mkdir -p build/deep; echo o > build/deep/o; echo p > build/p; echo l > agent.log; echo m > node_modules/dep/mine.js; echo x > x`,
  });
  const { ignoredLeftBehind } = importAsHost(stage, run).manifest;
  expect(ignoredLeftBehind.total).toBe(3);
  expect(ignoredLeftBehind.names.toSorted()).toEqual([
    "agent.log",
    "build/",
    "node_modules/dep/mine.js",
  ]);
});

test("a long list of ignored files is counted and cut", async () => {
  const stage = makeStage({ files: { ".gitignore": "*.log\n" } });
  const run = await runGuest(stage, {
    agent: `for i in $(seq 250); do : > $i.log; done; echo x > x`,
  });
  const { ignoredLeftBehind } = importAsHost(stage, run).manifest;
  expect(ignoredLeftBehind.total).toBe(250);
  expect(ignoredLeftBehind.names).toHaveLength(200);
});

test("files of nested repositories are recorded as files, also when they were committed as a link", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `
      mkdir -p plain/deep unborn linked
      for d in plain plain/deep linked; do git init -q $d; echo f > $d/f; (cd $d; git add f; git commit -qm Nested); done
      git init -q unborn; echo u > unborn/u
      git add linked 2>/dev/null; git commit -qm "Add linked"`,
  });
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toMatchObject({
    kind: "flattened",
    reason: "a commit links to a nested repository, whose files are recorded instead",
  });
  expect(Object.keys(filesOf(imported))).toEqual([
    "README.md",
    "linked/f",
    "plain/deep/f",
    "plain/f",
    "src/a.txt",
    "unborn/u",
  ]);
});

test.each([
  ["with its data", ""],
  ["without its data", "rm -rf linked/.git"],
])(
  "the files of a repository that was only committed as a link are recorded, %s",
  async (_, then) => {
    const stage = makeStage();
    const run = await runGuest(stage, {
      agent: `git init -q linked; echo f > linked/f; (cd linked; git add f; git commit -qm Nested)
      git add linked 2>/dev/null; git commit -qm "Add linked"; ${then}`,
    });
    expect(run.code).toBe(0);
    const imported = importAsHost(stage, run);
    expect(imported.manifest.history.kind).toBe("flattened");
    expect(Object.keys(filesOf(imported))).toEqual(["README.md", "linked/f", "src/a.txt"]);
  },
);

test("a further worktree of the same repository is left out and reported", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent: `git worktree add -q wt; echo x > x` });
  const imported = importAsHost(stage, run);
  expect(Object.keys(filesOf(imported))).toEqual(["README.md", "src/a.txt", "x"]);
  expect(imported.manifest.ignoredLeftBehind).toEqual({ total: 1, names: ["wt/"] });
});

test("a tracked file that became a FIFO is reported and nothing else is lost", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent: `rm README.md; mkfifo README.md pipe; echo x > x` });
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(filesOf(imported)).toMatchObject({ "README.md": "# Sample", x: "x" });
  expect(imported.manifest.ignoredLeftBehind.names).toEqual(["README.md"]);
});

test("a name that the host's git refuses is reported and nothing else is lost", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent: `echo e > 'git~1'; echo x > x` });
  const imported = importAsHost(stage, run);
  expect(Object.keys(filesOf(imported))).toEqual(["README.md", "src/a.txt", "x"]);
  expect(imported.manifest.ignoredLeftBehind.names).toEqual(["git~1"]);
});

/** Gives a whole directory to a user who is not root: root reads everything, whatever its mode. */
function giveTo(path: string, uid: number): void {
  chownSync(path, uid, uid);
  if (lstatSync(path).isDirectory())
    for (const name of readdirSync(path)) giveTo(join(path, name), uid);
}

test.each([
  ["both", `x c closed a; chmod 100 "$PWD"`],
  // Of which Git only warns.
  ["a directory", "closed"],
])("files and directories without read permission are exported: %s", async (_, closed) => {
  const stage = makeStage({ files: { "a/b": "b\n", c: "c\n" } });
  const asRoot = process.getuid?.() === 0;
  if (asRoot)
    for (const name of readdirSync(stage.directory)) giveTo(join(stage.directory, name), 1000);
  const run = await runGuest(stage, {
    agent: `echo x > x; mkdir closed; echo y > closed/y; echo C > c; chmod 000 ${closed}`,
    ...(asRoot ? { as: { uid: 1000, gid: 1000 } } : {}),
  });
  expect(run.output).toBe(`${GUEST_EXPORTS}\n`);
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(filesOf(imported)).toEqual({ "a/b": "b", c: "C", "closed/y": "y", x: "x" });
});

test("what the agent put into the patch directory is not taken for a patch", async () => {
  const stage = makeStage();
  put(stage.directory, { "other/keep": "kept\n" });
  const run = await runGuest(stage, {
    agent: `ln -s "${stage.directory}/other" "$GUARDLOOP_ARTIFACTS/patches"; mkdir "$GUARDLOOP_ARTIFACTS/manifest.json"; echo x > x`,
  });
  expect(run.code).toBe(0);
  expect(importAsHost(stage, run).manifest.patches).toHaveLength(1);
  expect(readdirSync(join(stage.directory, "other"))).toEqual(["keep"]);
});

test("an edit in the very second of the snapshot, to the same size, is not lost", async () => {
  const edited = (): ReturnType<typeof makeStage> => {
    for (;;) {
      const stage = makeStage();
      const path = join(stage.workspace, "src/a.txt");
      const seconds = () => [stage.job.paths.baseIndex, path].map(secondOf);
      const before = seconds();
      writeFileSync(path, "ONE\ntwo\nthree\n");
      if (new Set([...before, ...seconds()]).size === 1) return stage;
    }
  };
  const stage = edited();
  // The guest's own index must be younger than the edit for Git to be deceived.
  while (Math.floor(Date.now() / 1000) <= secondOf(stage.job.paths.baseIndex)) await delay(10);
  const run = await runGuest(stage);
  expect(run.code).toBe(0);
  expect(filesOf(importAsHost(stage, run))).toMatchObject({ "src/a.txt": "ONE\ntwo\nthree" });
});

function secondOf(path: string): number {
  return Math.floor(lstatSync(path).mtimeMs / 1000);
}
