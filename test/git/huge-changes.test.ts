import { expect, test } from "vitest";
import { addedLines } from "../../src/git/added-lines.ts";
import { measureChanges } from "../../src/git/change-facts.ts";
import { userGit } from "../../src/git/git.ts";
import { diffText } from "../../src/git/show-diff.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";
import { plumbingIn } from "./plumbing.ts";

/** A commit on HEAD with one more entry, made without a work tree. */
function commitWith(
  repository: SampleRepository,
  { mode = "100644", name, content }: { mode?: string; name: string; content: string },
): string {
  const git = plumbingIn(repository);
  const blob = git(["hash-object", "-w", "--stdin"], content);
  const tree = git(["mktree"], `${git(["ls-tree", "HEAD"])}\n${mode} blob ${blob}\t${name}\n`);
  return git(["commit-tree", tree, "-p", "HEAD", "-m", "Do T1"]);
}

async function reading(repository: SampleRepository, tip: string) {
  const git = userGit("/usr/bin/git", repository.env, repository.topLevel);
  const base = repository.head();
  const lines = await addedLines(git, base, tip);
  const diff = await diffText(git, base, tip);
  const changes = await measureChanges(git, base, tip);
  if (!lines.ok || !diff.ok || !changes.ok) throw new Error("the commit could not be read");
  return { lines: lines.value, diff: diff.value, changes: changes.value };
}

test("more lines than are looked at: the first ones are, and it is said that there are more", async () => {
  const repository = sampleRepository();
  const content = `\0first\n${"\n".repeat(1_200_000)}`;
  const { lines } = await reading(repository, commitWith(repository, { name: "many", content }));
  expect(lines.extent).toBe("cut");
  expect(lines.lines).toHaveLength(1_000_000);
  expect(lines.lines[0]).toEqual({ path: "many", line: "\0first", lineNumber: 1 });
});

test("a diff that nobody reads to its end is cut, and its last line says so", async () => {
  const repository = sampleRepository();
  const content = `${"0123456789abcdef".repeat(64)}\n`.repeat(70_000);
  const tip = commitWith(repository, { name: "large.txt", content });
  const { diff } = await reading(repository, tip);
  expect(diff.startsWith("diff --git a/large.txt b/large.txt\n")).toBe(true);
  expect(diff).toMatch(new RegExp(`\\n… the diff is longer than 64 MiB: .* ${tip}$`));
});

test("an ordinary change is read whole", async () => {
  const repository = sampleRepository();
  const tip = commitWith(repository, { name: "a.txt", content: "one\ntwo" });
  const { lines, diff } = await reading(repository, tip);
  expect(lines).toEqual({
    extent: "whole",
    lines: [
      { path: "a.txt", line: "one", lineNumber: 1 },
      { path: "a.txt", line: "two", lineNumber: 2 },
    ],
  });
  expect(diff).toContain("+two");
});

test.each([
  ["../../etc/passwd", "../../etc/passwd"],
  ["x".repeat(5000), "/(too long to be a path)"],
])(
  "a link's target is read, and one that no system takes counts as leading out",
  async (target, seen) => {
    const repository = sampleRepository();
    const tip = commitWith(repository, { mode: "120000", name: "link", content: target });
    const { changes } = await reading(repository, tip);
    expect(changes.map((change) => change.linkTarget)).toEqual([seen]);
  },
);
