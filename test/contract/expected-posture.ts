import type { Agreed } from "../../src/selftest/agreed.ts";
import { POSTURE } from "../../src/selftest/posture.ts";
import type { Found } from "../../src/selftest/probe/found.ts";

/** Besides these the agent image sets nothing; another image may. */
const ENVIRONMENT =
  "GUARDLOOP_ARTIFACTS GUARDLOOP_PROMPT GUARDLOOP_RUN_ID HOME HOSTNAME LANG PATH TMPDIR".split(" ");

/**
 * Compares what a probe found in a container of the agent image with what was agreed.
 *
 * @returns the names of the parts of the posture that differ; empty when the container is as agreed.
 */
export function differences(
  found: Found,
  agreed: Agreed & { readonly runId: string },
): readonly string[] {
  const parts = POSTURE.filter(
    (part) => part.notShown?.(found) === undefined && !part.holds(found, agreed),
  ).map((part) => part.name);
  const names = Object.keys(found.environment).toSorted().join(" ");
  if (names !== ENVIRONMENT.toSorted().join(" ")) parts.push("environment");
  if (found.environment["GUARDLOOP_RUN_ID"] !== agreed.runId) parts.push("run-id");
  return parts;
}
