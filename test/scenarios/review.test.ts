import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readyRun, refuse, succeed } from "../rig/lifecycle.ts";
import { makeWorld } from "../rig/world.ts";

async function printed(world: ReturnType<typeof makeWorld>, ...parts: readonly string[]) {
  return (await succeed(world, ["review", "@last", ...parts])).stdout;
}

test("a review begins with the task, what the run was, and what there is to see; the diff comes last", async () => {
  using world = makeWorld();
  const run = await readyRun(
    world,
    "mkdir -p .github/workflows; echo x > .github/workflows/ci.yml",
  );
  const text = await printed(world);
  const order = [
    "T1 Add the first file  ready",
    "[ ] one.txt exists",
    "Agent       command, network none, worked for",
    `Branch      ${run.branch}`,
    "Validation  none: the project names no commands",
    "Findings    1 block",
    "1 commit\n",
    "3 files  +3 -1\n",
    "  A T1.txt  +1 -0\n",
    "1 finding\n",
    "diff --git",
    "+work on T1\n",
    `Land it:  guardloop promote ${run.id} --accept protected-ci\n`,
  ];
  const places = order.map((words) => text.indexOf(words));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("each part can be printed alone, and two of them are refused", async () => {
  using world = makeWorld();
  await readyRun(world);
  expect(await printed(world, "--stat")).toBe(
    "2 files  +2 -1\n  A T1.txt  +1 -0\n  M docs/TASKS.md  +1 -1\n",
  );
  expect(await printed(world, "--findings")).toBe("No findings\n");
  expect(await printed(world, "--diff")).toMatch(
    /^diff --git a\/T1\.txt[^]*\+work on T1\n[^]*Status: done\n/,
  );
  expect(await printed(world, "--patch")).toMatch(/^From [0-9a-f]{40} [^]*\nSubject: Do T1\n/);
  const said = await refuse(world, ["review", "@last", "--diff", "--patch"], {
    code: "usage",
    status: 2,
  });
  expect(said.message).toContain("--diff and --patch");
});

test("many files are summed up by directory, but --stat has every one", async () => {
  using world = makeWorld();
  await readyRun(
    world,
    "for d in a/b a/c e; do mkdir -p $d; for i in $(seq 20); do echo $i > $d/$i.txt; done; done",
  );
  const summary = await printed(world);
  expect(summary).toContain("62 files  +62 -1\n");
  expect(summary).toMatch(/^ {2}a\/b\/ +20 files +\+20 -0$/m);
  expect(summary).toMatch(/^ {2}\.\/ +1 file +\+1 -0$/m);
  expect(summary).not.toContain("  A a/b/7.txt");
  const all = await printed(world, "--stat");
  expect(all.match(/^ {2}A [ae]\//gm)).toHaveLength(60);
});

test("kinds and modes are said in words, links with their targets, and content that is no text with its size", async () => {
  using world = makeWorld();
  world.write("tool", "#!/bin/sh\n");
  execFileSync("ln", ["-s", "docs", join(world.repo, "link")]);
  world.commit("More");
  await readyRun(
    world,
    `chmod +x tool; rm link; ln -s src link; ln -s tool new-link
     rm src/app.txt; ln -s ../tool src/app.txt
     seq 300 | gzip -n -c | head -c 300 > data.bin`,
  );
  const diff = await printed(world, "--diff");
  expect(diff).toContain("was: regular file\nis now: executable file\n");
  expect(diff).toMatch(/index \w+\.\.\w+ 120000\nsymbolic link, now to src\n/);
  expect(diff).toContain("new symbolic link to tool\n");
  expect(diff).toContain("deleted regular file\n");
  expect(diff).toContain("new symbolic link to ../tool\n");
  expect(diff).toContain("binary content, now 300 B: not shown; --patch has it\n");
  expect(await printed(world, "--stat")).toContain("  A data.bin  binary, 300 B\n");
});

test("neither an attribute nor a NUL byte hides a text, and no line passes for a header", async () => {
  using world = makeWorld();
  world.write(".gitattributes", "*.txt -diff binary\n");
  world.commit("Attributes");
  await readyRun(
    world,
    `printf 'visible words\\0 and more of them, all of them readable\\n' > sly.txt
     printf '++ b/forged\\n-- a/forged\\ndiff --git a/x b/x\\n' > forged.md`,
  );
  const diff = await printed(world, "--diff");
  expect(diff).toContain("+visible words<U+0000> and more");
  expect(diff).toContain("+work on T1");
  expect(diff).toContain("+++ b/forged\n+-- a/forged\n+diff --git a/x b/x\n");
});

test("--patch has exact bytes: applied elsewhere they make the same trees, whatever the user's format.* says", async () => {
  using world = makeWorld();
  for (const [key, value] of [
    ["format.attach", "x"],
    ["format.signOff", "true"],
    ["format.headers", "X-Mine: y\n"],
    ["format.subjectPrefix", "MINE"],
    ["format.numbered", "true"],
    ["format.coverLetter", "true"],
    ["diff.noprefix", "true"],
    ["color.ui", "always"],
  ] as const)
    world.git("config", key, value);
  const run = await readyRun(
    world,
    `printf 'a\\r\\nb\\033[31m\\377\\r\\n' > odd.txt; head -c 2000 /dev/urandom > r.bin; git add -A
     git -c user.name=A -c user.email=a@b.invalid commit -q -m "[keep] this subject"; echo more >> odd.txt`,
  );
  const elsewhere = join(world.root, "elsewhere");
  world.git("clone", "-q", world.repo, elsewhere);
  const mails = join(world.root, "mails");
  const words = [process.execPath, "bin/guardloop.js"].map((word, index) =>
    index === 0 ? word : join(import.meta.dirname, "../..", word),
  );
  const bytes = execFileSync(words[0] ?? "", [words[1] ?? "", "review", "@last", "--patch"], {
    cwd: world.repo,
    env: world.env,
  });
  writeFileSync(mails, bytes);
  world.git("-C", elsewhere, "am", "-q", "--keep", "--keep-cr", mails);
  const tree = (...at: readonly string[]) => world.git(...at);
  expect(tree("-C", elsewhere, "rev-parse", "HEAD^{tree}")).toBe(
    tree("rev-parse", `${run.head}^{tree}`),
  );
  expect(world.git("-C", elsewhere, "log", "-1", "--format=%s", "HEAD~1")).toBe(
    "[keep] this subject",
  );
  expect(readFileSync(mails, "utf8")).not.toContain("X-Mine");
});
