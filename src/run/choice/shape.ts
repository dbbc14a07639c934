import type { Origin } from "../../config/load.ts";
import type { Settings } from "../../config/settings.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";

/** How the runs of an invocation go together. */
export interface SeriesShape {
  /** `stacked`: one builds on another. `independent`: each has a task of its own. `attempts`: all have the same. */
  readonly kind: "stacked" | "independent" | "attempts";
  /** Runs at once. */
  readonly width: number;
  /** Runs in all. */
  readonly most: number;
}

export interface ShapeRequest {
  readonly run: Settings["run"];
  /** How many agents were named. */
  readonly agents: number;
  /** How many tasks were named with --task. */
  readonly wanted: number;
  readonly originOf: (key: "run.max_tasks" | "run.attempts") => Origin;
}

/** Puts the settings about several runs together, or says which of them contradict each other. */
export function seriesShape(request: ShapeRequest): Result<SeriesShape, Failure> {
  const { run, agents } = request;
  const attempts = request.originOf("run.attempts") === "default" ? agents : run.attempts;
  const shape = attempts > 1 || agents > 1 ? attemptShape(request, attempts) : taskShape(request);
  if (!shape.ok) return shape;
  if (shape.value.kind === "stacked" || run.promote !== "auto" || shape.value.most === 1)
    return shape;
  const flag = shape.value.kind === "attempts" ? "Attempts" : "Independent runs";
  return fail(
    "config-invalid",
    `${flag} and --promote auto contradict each other: only the first could land.`,
    { cure: "Leave out --promote auto, then promote by hand." },
  );
}

function attemptShape(request: ShapeRequest, attempts: number): Result<SeriesShape, Failure> {
  const { run, agents, wanted } = request;
  if (attempts < agents)
    return fail("config-invalid", `${agents} agents are named for ${attempts} of --attempts.`, {
      cure: "Name fewer agents, or ask for at least one attempt for each.",
    });
  if (wanted > 1)
    return fail("config-invalid", "--attempts runs one task, and --task names several.", {
      cure: "Name one task, and run the command once for each.",
    });
  if (request.originOf("run.max_tasks") === "flag" && run.maxTasks > 1)
    return fail("config-invalid", "--attempts runs one task, and --max-tasks asks for several.", {
      cure: "Leave one of them out.",
    });
  return ok({ kind: "attempts", width: Math.min(run.parallel, attempts), most: attempts });
}

function taskShape({ run, wanted, originOf }: ShapeRequest): Result<SeriesShape, Failure> {
  const standard = Math.max(run.parallel, wanted, 1);
  const most = originOf("run.max_tasks") === "default" ? standard : run.maxTasks;
  const kind = run.parallel > 1 ? "independent" : run.mode;
  return ok({ kind, width: Math.min(run.parallel, most), most });
}
