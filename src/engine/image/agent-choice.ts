import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { findProgram } from "../../process/find-program.ts";
import type { Stepper } from "./step.ts";
import { type ImageAgent, type ImageVersions, IMAGE_AGENTS, agentPackages } from "./versions.ts";

const NPM_ANSWER_MS = 30_000;

interface Choice {
  readonly agents: readonly ImageAgent[] | "default";
  readonly versions: ImageVersions;
  readonly onProgress: (line: string) => void;
}

/** The agents that were named; else all of them, or none with a note when the npm registry does not answer. */
export async function agentsOrDefault(
  steps: Stepper,
  choice: Choice,
): Promise<Result<readonly ImageAgent[], Failure>> {
  if (choice.agents !== "default") return ok(choice.agents);
  const [first = "npm"] = agentPackages(choice.versions, IMAGE_AGENTS);
  const npm = findProgram("npm", steps.path);
  // Without npm on this machine the base image's own npm may still reach the registry.
  if (npm === undefined) return ok(IMAGE_AGENTS);
  const view = await steps.attempt({
    program: npm,
    args: ["view", first, "version", "--no-update-notifier", "--fetch-retries=0"],
    deadlineMs: 2 * NPM_ANSWER_MS,
    firstOutputMs: NPM_ANSWER_MS,
    output: "kept",
  });
  if (!view.ok) return view;
  if (view.value.code === 0) return ok(IMAGE_AGENTS);
  choice.onProgress(
    "The npm registry does not answer, so the image gets no agent; `guardloop image build --agent codex,claude` adds them",
  );
  return ok([]);
}
