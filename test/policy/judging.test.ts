import { describe, expect, test } from "vitest";
import { NO_POLICY } from "../../src/core/findings.ts";
import { applyPolicy, weightiestFirst } from "../../src/policy/apply-policy.ts";
import { dynamicFindings } from "../../src/policy/dynamic-findings.ts";
import { finding } from "../../src/policy/finding.ts";

describe("severities that policy gives", () => {
  const found = [finding("binary", "b"), finding("junk", "j"), finding("symlink", "s")];

  test("show, with which way they went", () => {
    const judged = applyPolicy(found, {
      ...NO_POLICY,
      raise: [{ code: "binary", severity: "block" }],
      lower: [{ code: "junk", severity: "info" }],
    });
    expect(judged.map(({ code, severity, policy }) => [code, severity, policy])).toEqual([
      ["binary", "block", "raised"],
      ["junk", "info", "lowered"],
      ["symlink", "warn", null],
    ]);
  });

  test("a code that is both raised and lowered is raised", () => {
    const [judged] = applyPolicy(found, {
      ...NO_POLICY,
      raise: [{ code: "binary", severity: "block" }],
      lower: [{ code: "binary", severity: "info" }],
    });
    expect(judged?.severity).toBe("block");
  });

  test("the same severity as by default changes nothing", () => {
    const raise = [{ code: "binary", severity: "warn" } as const];
    expect(applyPolicy(found, { ...NO_POLICY, raise })).toEqual(found);
  });

  test("the weightiest come first, otherwise in their order", () => {
    expect(weightiestFirst(found).map((one) => one.code)).toEqual(["junk", "binary", "symlink"]);
  });
});

describe("findings of the moment", () => {
  const fine = { staleBase: undefined, validation: { kind: "passed" } } as const;

  test("there are none while nothing has changed", () => {
    expect(dynamicFindings(fine)).toEqual([]);
    expect(dynamicFindings({ ...fine, validation: { kind: "not-required" } })).toEqual([]);
  });

  test("a validation that failed or is missing blocks, and names the flag", () => {
    const failed = { kind: "failed", commands: ["test failed"] } as const;
    for (const validation of [failed, { kind: "missing" } as const]) {
      const [one] = dynamicFindings({ ...fine, validation });
      expect(one).toMatchObject({ code: `validation-${validation.kind}`, severity: "block" });
      expect(one?.why).toContain("--without-validation");
    }
  });

  test("a base that moved says by how much, and what both sides changed", () => {
    const moved = { branch: "main", commits: 2, base: "held", bothSides: ["a.txt"] } as const;
    const [one] = dynamicFindings({ ...fine, staleBase: moved });
    expect(one).toMatchObject({ code: "stale-base", severity: "warn", paths: ["a.txt"] });
    expect(one?.why).toBe(
      "main has moved by 2 commits since the run began; these files were changed on both sides.",
    );
    const lost = { ...moved, commits: 0, base: "lost", bothSides: [] } as const;
    expect(dynamicFindings({ ...fine, staleBase: lost })[0]?.why).toBe(
      "main no longer holds the commit that the run began at; no file was changed on both sides.",
    );
  });
});
