import { expect, test } from "vitest";
import { judgeGitVersion } from "../../src/git/version.ts";

test.each([
  ["git version 2.38.5", "problem"],
  ["git version 1.8.3.1", "problem"],
  ["what", "problem"],
  ["git version 2.39.2", "warning"],
  ["git version 2.39.5", "ok"],
  ["git version 2.39.5 (Apple Git-154)", "ok"],
  ["git version 2.41.0", "warning"],
  ["git version 2.43.0", "ok"],
  ["git version 2.43.6", "warning"],
  ["git version 2.43.7", "ok"],
  ["git version 2.50.0", "warning"],
  ["git version 2.50.0.windows.1", "warning"],
  ["git version 2.50.1", "ok"],
  ["git version 2.55.GIT", "ok"],
  ["git version 3.0.0", "ok"],
])("doctor on %j: %s", (printed, verdict) => {
  const judged = judgeGitVersion(printed);
  expect(judged.verdict).toBe(verdict);
  expect(judged.text).toContain(printed);
  expect(judged.cure === null).toBe(verdict === "ok");
});

test("says that a distribution's own fixes cannot be seen in the number", () => {
  expect(judgeGitVersion("git version 2.39.5").text).toContain("depends on your distribution");
});
