import { expect, test } from "vitest";
import { narrowIndex } from "../../src/git/narrow-index.ts";
import { touchedPaths } from "../../src/git/touched-paths.ts";
import { sealedGit } from "../../src/git/git.ts";
import { sampleRepository } from "../lease/sample-repository.ts";

// What a patch names is whatever its author wrote; to look it up must not cost more than the patch.

test("a path that nothing can have is not looked up", () => {
  const deep = `${"a/".repeat(24_000)}a`;
  const mail = Buffer.from(`--- a/${deep}\n--- a/fine.txt\n+++ b/${"n".repeat(5000)}\n`);
  expect([...touchedPaths(mail)]).toEqual(["fine.txt"]);
});

test("many lines that look like names are not all kept", () => {
  const lines = Array.from({ length: 200_000 }, (_, at) => `--- a/${at}\n`);
  expect(touchedPaths(Buffer.from(lines.join(""))).size).toBe(150_000);
});

test("patches whose directories are too many are left to Git, and those before them are not", async () => {
  const repository = sampleRepository();
  const git = sealedGit("/usr/bin/git", repository.env, repository.commonDir);
  const deep = (at: number): string => `${at}/${"abcdefghijklmno/".repeat(250)}x`;
  const touched = [
    new Set(["README.md"]),
    new Set(Array.from({ length: 100 }, (_, at) => deep(at))),
  ];
  for (const contents of ["read", "leave"] as const) {
    const narrow = await narrowIndex(git, repository.head(), { touched, contents });
    expect(narrow.ok && { patches: narrow.value.patches, paths: [...narrow.value.paths] }).toEqual({
      patches: 1,
      paths: ["README.md"],
    });
  }
});
