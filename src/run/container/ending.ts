import type { RunRecord } from "../../core/run-record.ts";
import type { AgentEnding } from "../../core/run-spec.ts";

/** How the agent ended, as the journal has it; a run that died before it knew counts as interrupted. */
export function endingOf(run: RunRecord): AgentEnding {
  const output = run.outputs.agent;
  if (typeof output === "object" && output !== null && "ending" in output)
    // The journal's own output of the stage, written by us.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return output.ending as AgentEnding;
  const { startedAt, endedAt } = run;
  const end = endedAt ?? startedAt;
  return { kind: "interrupted", exitCode: 137, startedAt, endedAt: end, hitMemoryLimit: false };
}
