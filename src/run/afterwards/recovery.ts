import type { Engine } from "../../engine/port.ts";
import type { LeasePool } from "../../lease/port.ts";
import type { RunServices } from "../services.ts";
import type { Glance } from "./glance.ts";

/** What recovery did, a sentence each. */
export interface Recovery {
  readonly actions: readonly string[];
  /** Things that could not be cleaned up now, each with its reason. */
  readonly problems: readonly string[];
}

/** Like a run's services, with every pool that a dead run may have leased from, and every engine it may have run in. */
export interface RecoverServices extends Omit<RunServices, "paths" | "leases" | "engine"> {
  readonly pools: readonly LeasePool[];
  /** Those that answer; at least one. */
  readonly engines: readonly Engine[];
  /** What becomes of a container that outlived its owner; `leave` for a command that is about another run. */
  readonly orphans: "stop" | "adopt" | "leave";
  /** Where something was asked before. */
  readonly glance?: Glance | undefined;
}

/** What is written into while it goes on. */
export interface Report {
  readonly actions: string[];
  readonly problems: string[];
}
