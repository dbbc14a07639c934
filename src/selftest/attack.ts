import type { Failure } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import type { RunSpec } from "../core/run-spec.ts";
import type { Git } from "../git/git.ts";
import type { FinishedRun } from "../run/flow.ts";
import type { Place } from "./place.ts";

/** What an attack is directed at. `host` is what all runs together may have done to it. */
export type Boundary = "container" | "artifacts" | "patches" | "repository" | "host";

/** Something that a run must withstand. */
export interface Attack {
  /** Stable, for `--only` and scripts. */
  readonly name: string;
  /** Completes the sentence "The agent …". */
  readonly tries: string;
  /** Attacks that share one are tried in one run. */
  readonly agent: AttackAgent;
  /** Judges one run of that agent. What it left of the host is looked at besides, for every attack. */
  readonly expect: (seen: Seen) => Judgement | Promise<Judgement>;
}

/** The scripted agent of one run. */
export interface AttackAgent {
  /** For `sh -c`; the image has sh, Git and Node, and need not have more. */
  readonly script: (place: Place) => string;
  /** Lower limits than the settings have, so that reaching them costs the host little. */
  readonly bounds?: Bounds;
}

/** Upper limits; the lower one of these and the settings counts. */
export interface Bounds {
  readonly memoryBytes?: number;
  readonly pids?: number;
  readonly tmpBytes?: number;
  readonly wallMs?: number;
}

/** Skipped is not held: the attack could not be tried. */
export type Verdict = "held" | "failed" | "skipped";

export interface Judgement {
  readonly verdict: Verdict;
  /** What was seen, a few words. May hold text from the container. */
  readonly seen: string;
}

/** One run as an attack judges it. */
export interface Seen {
  readonly place: Place;
  readonly spec: RunSpec;
  readonly ended: Result<FinishedRun, Failure>;
  /** What the agent printed; untrusted. */
  readonly log: string;
  /** The scratch repository's. */
  readonly git: Git;
}

export function held(seen: string): Judgement {
  return { verdict: "held", seen };
}

export function failed(seen: string): Judgement {
  return { verdict: "failed", seen };
}

export function skipped(why: string): Judgement {
  return { verdict: "skipped", seen: why };
}
