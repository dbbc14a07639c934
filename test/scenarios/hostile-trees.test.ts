import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterGuestNode } from "../rig/hostile.ts";
import { GOOD_AGENT, type World, makeWorld, runsOf } from "../rig/world.ts";

// Trees that Git accepts and that a reviewer must hear about: one run brings all of them.

interface OddEntry {
  readonly about: string;
  readonly mode?: string;
  readonly name: string;
  readonly content?: string;
  /** The finding that names it. */
  readonly code: string;
}

const ODD: readonly OddEntry[] = [
  { about: "D3 a backslash", name: "back\\slash", code: "odd-name" },
  { about: "D3 a name that Windows keeps for itself", name: "d3/CON", code: "odd-name" },
  { about: "D3 a dot at the end", name: "d3/dot.", code: "odd-name" },
  { about: "D3 a blank at the end", name: "d3/blank ", code: "odd-name" },
  { about: "D3 a colon", name: "d3/a:b", code: "odd-name" },
  { about: "D6 a bidi override", name: "d6/\u202egnp.exe", code: "odd-name" },
  { about: "D6 a zero-width space", name: "d6/a\u200bb", code: "odd-name" },
  { about: "D6 a tag character", name: "d6/a\u{e0041}", code: "odd-name" },
  { about: "D7 a name that differs in case alone", name: "SRC/app.txt", code: "case-collision" },
  { about: "D7 a name in another normal form", name: "d7/u\u0308", code: "case-collision" },
  {
    about: "D10 a link out of the tree",
    mode: "120000",
    name: "d10/out",
    content: "../../x",
    code: "symlink-escaping",
  },
  {
    about: "D10 a link to an absolute path",
    mode: "120000",
    name: "d10/abs",
    content: "/etc/passwd",
    code: "symlink-escaping",
  },
  {
    about: "D10 a link into .git",
    mode: "120000",
    name: "d10/git",
    content: "../.git/config",
    code: "symlink-escaping",
  },
  {
    about: "D10 a link in the place of a directory",
    mode: "120000",
    name: "d10/dir",
    content: "../src",
    code: "symlink",
  },
  {
    about: "D11 a .gitmodules",
    name: ".gitmodules",
    content: '[submodule "x"]\n\tpath = x\n\turl = ./x\n',
    code: "protected-git",
  },
  {
    about: "D14 a configuration of Git LFS",
    name: ".lfsconfig",
    content: "[lfs]\n\turl = https://example.invalid\n",
    code: "protected-git",
  },
  {
    about: "D15 attributes",
    name: ".gitattributes",
    content: "*.txt -diff filter=lfs export-ignore\n",
    code: "protected-git",
  },
  { about: "D16 an ignore rule", name: ".gitignore", content: "*\n", code: "protected-git" },
];

const SHOWN = "seen-in-spite-of-minus-diff";

interface Finding {
  readonly code: string;
  readonly paths: readonly string[];
}

let world: World;
let findings: readonly Finding[] = [];
let review = "";
let gitFiles: { readonly before: readonly string[]; readonly after: readonly string[] };

/** Files of the user's .git, without the branch a run adds, the objects it brings, and the pool's worktree. */
function ownFiles(): readonly string[] {
  return readdirSync(join(world.repo, ".git"), { recursive: true, encoding: "utf8" })
    .filter(
      (name) => !/^objects\/|^worktrees(?:\/|$)|(?:^|\/)refs\/heads\/agent(?:\/|$)/.test(name),
    )
    .toSorted();
}

beforeAll(async () => {
  world = makeWorld();
  world.write("d7/\u00fc", "x\n");
  world.commit("A name with an umlaut");
  const before = ownFiles();
  const entries = ODD.map(({ mode = "100644", name, content = "x\n" }) => [mode, name, content]);
  entries.push(["100644", "d15/text.txt", `${SHOWN}\n`]);
  afterGuestNode(world, `forge(${JSON.stringify(entries)});`);
  const ended = await world.run(GOOD_AGENT);
  if (ended.code !== 0) throw new Error(ended.stderr);
  const reviewed = await world.guardloop(["review", "@last", "--json"]);
  findings = (JSON.parse(reviewed.stdout) as { findings: readonly Finding[] }).findings;
  review = (await world.guardloop(["review", "@last"])).stdout;
  gitFiles = { before, after: ownFiles() };
});

afterAll(() => world[Symbol.dispose]());

describe("an entry that Git accepts is imported, and named by a finding", () => {
  test.each(ODD.map((one) => [one.about, one] as const))("%s", (_, { name, code }) => {
    const paths = findings.filter((one) => one.code === code).flatMap((one) => one.paths);
    // A link is named with its target.
    expect(paths.map((path) => path.replace(/ -> .*$/, ""))).toContain(name);
  });
});

test("D15 an attribute that hides a file's text from git diff does not hide it from review", () => {
  expect(review).toContain(`+${SHOWN}`);
});

test("none of these names steers the terminal", () => {
  expect(review.replaceAll(/[\n\t]/g, "")).not.toMatch(
    /[\p{Cc}\p{Bidi_Control}\u200b\u{e0000}-\u{e007f}]/u,
  );
  expect(review).toContain("<U+202E>gnp.exe");
});

test("a run leaves no FETCH_HEAD, ORIG_HEAD, lock or other file in the user's .git", () => {
  expect(gitFiles.after).toEqual(gitFiles.before);
});

test("such a branch is not promoted by the way", async () => {
  const head = world.git("rev-parse", "HEAD");
  expect((await world.guardloop(["promote", "@last"])).code).toBe(3);
  expect(world.git("rev-parse", "HEAD")).toBe(head);
  expect((await runsOf(world))[0]?.state).toBe("ready");
});
