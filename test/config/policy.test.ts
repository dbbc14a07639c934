import { expect, test } from "vitest";
import { FINDINGS } from "../../src/core/findings.ts";
import { loaded, refused } from "./load-rig.ts";

function complaint(line: string): string {
  const failure = refused({ repository: `[policy]\n${line}\n` });
  expect(failure.code).toBe("config-invalid");
  return failure.message;
}

test.each([
  ["an unknown code", 'raise = ["binry: block"]'],
  ["an unknown level", 'raise = ["binary: fatal"]'],
  ["no level", 'raise = ["binary"]'],
  ["a code of another case", 'raise = ["Binary: block"]'],
  ["a name of JavaScript's own", 'raise = ["constructor: block"]'],
  ["a raise that lowers", 'raise = ["junk: warn"]'],
  ["a lower that raises", 'lower = ["binary: block"]'],
  ["a lower of control-file", 'lower = ["control-file: warn"]'],
  ["a lower of secret-in-use", 'lower = ["secret-in-use: info"]'],
  ["a lower of a failed validation", 'lower = ["validation-failed: info"]'],
  ["a lower of a missing validation", 'lower = ["validation-missing: info"]'],
  ["a path out of the repository", 'protected = ["../x"]'],
  ["a glob for everything but", 'protected = ["!docs/**"]'],
  ["an empty glob", 'protected = [""]'],
  ["a glob that cannot be compiled", 'protected = ["a/[z-a]"]'],
])("%s is refused where it stands", (_, line) => {
  const column = line.indexOf("[") + 2;
  expect(complaint(line)).toContain(`guardloop.toml:2:${column} policy.`);
});

test("the second of two good values is named when it is wrong", () => {
  expect(complaint('raise = ["binary: block", "nothing: block"]')).toContain(":2:27 policy.raise");
});

test("a code that is given twice is refused", () => {
  expect(complaint('raise = ["binary: block", "binary: warn"]')).toContain("each code once");
});

test("the level that a code has anyway may be written down", () => {
  for (const [code, severity] of Object.entries(FINDINGS))
    expect(
      loaded({ flags: { "policy.raise": `${code}: ${severity}` } }).settings.policy.raise,
    ).toEqual([{ code, severity }]);
});

test("an untrusted file's lower is left out with a notice, its raise and protected count", () => {
  const repository = `[policy]
protected = ["infra/**"]
raise = ["binary: block"]
lower = ["protected-ci: info"]
`;
  const { settings, notices } = loaded({ repository });
  expect(settings.policy).toEqual({
    protected: ["infra/**"],
    raise: [{ code: "binary", severity: "block" }],
    lower: [],
  });
  expect(notices).toEqual([
    "guardloop.toml:4:1 policy.lower = [\"protected-ci: info\"] is not used: it loosens the boundary; run `guardloop trust` or pass --lower 'protected-ci: info'.",
  ]);
  const trusted = loaded({ repository, trusted: "yes" });
  expect(trusted.settings.policy.lower).toEqual([{ code: "protected-ci", severity: "info" }]);
  const own = loaded({ repository, user: '[policy]\nlower = ["binary: info"]\n' });
  expect(own.settings.policy.lower).toEqual([{ code: "binary", severity: "info" }]);
  expect(own.notices).toEqual([]);
});

test("the command line needs no blank behind the colon", () => {
  const { policy } = loaded({ flags: { "policy.lower": ["binary:info", "junk:warn"] } }).settings;
  expect(policy.lower.map((one) => one.code)).toEqual(["binary", "junk"]);
});
