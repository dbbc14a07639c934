import type { RunSpec } from "../../core/run-spec.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { ValidationStanding } from "../../policy/dynamic-findings.ts";

/** Whether exactly the imported tree has passed what the project asks for; a result of another tree does not count. */
export function validationStanding(
  run: RunRecord,
  spec: Pick<RunSpec, "validate"> | undefined,
  tree: string | undefined,
): ValidationStanding {
  const result = tree === undefined ? undefined : run.validations[tree];
  if (result === undefined)
    return { kind: (spec?.validate.length ?? 0) > 0 ? "missing" : "not-required" };
  if (result.verdict === "passed") return { kind: "passed" };
  const bad = result.results.filter((one) => one.outcome !== "passed");
  return { kind: "failed", commands: bad.map((one) => `${one.name} ${one.outcome}`) };
}
