import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { EngineKind } from "../../core/run-spec.ts";
import type { Listed } from "../../engine/command-line.ts";
import type { Engine } from "../../engine/port.ts";
import { type AgentRef, agentRefs } from "../../git/agent-refs.ts";
import type { Git } from "../../git/git.ts";
import type { HostEnvironment } from "../../core/environment.ts";
import { SETTLED_REFS } from "../decide/settle-discards.ts";
import { stateId } from "../paths.ts";
import { staleMarks } from "./engine-marks.ts";

/**
 * What recovery wants to know of others, asked while something else is waited for. It is a little old when recovery comes
 * to it, so all that it may say is that nothing is to be done; whatever it shows besides is looked at anew. What changed
 * since belongs to a process that was alive, and is for the next recovery if that one has died meanwhile.
 */
export interface Glance {
  readonly containers: Promise<ContainerGlance | undefined>;
  readonly refs: Promise<Result<readonly AgentRef[], Failure>>;
}

export interface ContainerGlance {
  readonly kind: EngineKind;
  /** Marks of processes that were dead before the engine was asked. */
  readonly stale: readonly string[];
  readonly listed: Result<readonly Listed[], Failure>;
}

/** Asks an engine for containers of ours. */
export async function glanceAtContainers(
  env: HostEnvironment,
  engine: Engine,
): Promise<ContainerGlance> {
  const stale = staleMarks(env, engine.kind);
  return { kind: engine.kind, stale, listed: await engine.list(stateId(env.stateDir)) };
}

/** Asks for the refs that `settleDiscards` looks at. */
export function glanceAtRefs(git: Git): Glance["refs"] {
  return agentRefs(git, SETTLED_REFS);
}
