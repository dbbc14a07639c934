import type { AgentName } from "../core/agent-name.ts";
import type { Budget } from "../core/egress.ts";
import type { FindingPolicy } from "../core/findings.ts";
import type { NetworkMode, ProviderName } from "../core/network.ts";
import type { SnapshotMethod } from "../core/run-spec.ts";

/** Every setting with its final value. Where each came from is kept beside it, see `ResolvedSettings`. */
export interface Settings {
  readonly plan: {
    /** Globs relative to the repository's root. */
    readonly globs: readonly string[];
    /** Statuses that make a task runnable. */
    readonly runnable: readonly ("ready" | "planned")[];
  };
  readonly agent: {
    /** Several take turns over the attempts at one task; empty when none is configured. */
    readonly names: readonly AgentName[];
    /** The program and arguments of agent `command`, or extra arguments for the others. */
    readonly command: readonly string[];
    readonly model: string | undefined;
    /** Names of variables passed into the container. */
    readonly passEnv: readonly string[];
    readonly reminder: "on" | "off";
    readonly authorName: string;
    readonly authorEmail: string;
  };
  readonly network: {
    readonly mode: NetworkMode;
    /** Host names, exact or `*.` and a suffix, that the agent may reach through the proxy. */
    readonly allowHosts: readonly string[];
  };
  readonly gateway: {
    /** Undefined for the agent's usual one. */
    readonly provider: ProviderName | undefined;
    readonly serverTools: readonly string[];
    readonly maxRequestBytes: number;
    readonly waitForLimit: "off" | "on";
  };
  /** Base addresses without a slash at the end; undefined where none is set. */
  readonly upstream: Readonly<Record<ProviderName, string | undefined>>;
  /** References; undefined where none is set. */
  readonly credential: Readonly<Record<ProviderName, string | undefined>>;
  readonly budget: { readonly run: Budget; readonly invocation: Budget };
  readonly setup: {
    readonly commands: readonly string[];
    readonly allowHosts: readonly string[];
    /** Globs relative to the repository's root. */
    readonly lockfiles: readonly string[];
    /** Globs; empty for everything Git does not track. */
    readonly keep: readonly string[];
    readonly minutes: number;
  };
  /** Directories below HOME. */
  readonly cache: { readonly directories: readonly string[] };
  readonly container: {
    readonly engine: "docker" | "podman" | "auto";
    /** Undefined for the engine's default. */
    readonly runtime: string | undefined;
    readonly image: string;
    readonly memoryBytes: number;
    readonly cpus: number;
    readonly pids: number;
    readonly tmpBytes: number;
    readonly homeBytes: number;
    /** Containers at once; 0 for as many as fit. */
    readonly maxOnHost: number;
  };
  readonly limits: {
    readonly wallMinutes: number;
    readonly idleMinutes: number;
    readonly completionMinutes: number;
    /** On the disk, beyond what the snapshot had at the start. */
    readonly diskBytes: number;
    /** Files and directories, beyond those the snapshot had at the start. */
    readonly files: number;
    /** Of each log. */
    readonly logBytes: number;
  };
  readonly lease: { readonly kind: "auto" | "builtin" | "treehouse" };
  readonly snapshot: { readonly method: SnapshotMethod | "auto" };
  readonly overlay: {
    /** Globs of files Git does not track that may enter the snapshot. */
    readonly include: readonly string[];
  };
  readonly import: {
    /** What becomes of an author who is not the agent. */
    readonly authorship: "keep" | "replace";
  };
  readonly run: {
    readonly maxTasks: number;
    readonly mode: "stacked" | "independent";
    readonly onFailure: "stop" | "keep-going";
    readonly promote: "manual" | "auto";
    /** Runs at once. */
    readonly parallel: number;
    /** Runs of one task on one base. */
    readonly attempts: number;
    /** 0 for no limit. */
    readonly maxFailures: number;
    readonly backoffMs: number;
    readonly backoffMaxMs: number;
    /** 0 for never. */
    readonly giveUpAfter: number;
  };
  readonly recovery: {
    /** What becomes of a container whose owner died. */
    readonly containers: "stop" | "adopt";
  };
  readonly prompt: {
    /** Path of a template in the repository, relative to its root. */
    readonly template: string | undefined;
  };
  readonly validate: {
    /** In the order in which they run; `line` is for `sh -c` in the container. */
    readonly commands: readonly {
      readonly name: string;
      readonly line: string;
      readonly minutes: number | undefined;
    }[];
    /** Limit of a command that names none. */
    readonly minutes: number;
  };
  /** How findings are judged; taken into the run spec as it is. */
  readonly policy: FindingPolicy;
  readonly notify: {
    readonly on: readonly ("ready" | "failed" | "waiting")[];
    readonly bell: "off" | "on";
    /** A program on the host and its first arguments; empty for none. */
    readonly command: readonly string[];
    /** An address, or `env:NAME`; undefined for none. */
    readonly url: string | undefined;
  };
  readonly disk: { readonly freeFloorBytes: number };
  /** Infinity where something is never removed. */
  readonly retention: {
    readonly automatic: "on" | "off";
    /** Days since the decision after which a landed or discarded branch may be pruned. */
    readonly branchDays: number;
    /** Days since the decision, or the end of a run that left nothing. */
    readonly recordDays: number;
    /** Days since the snapshot was kept. */
    readonly snapshotDays: number;
    /** Days since the last use of a setup result or cache. */
    readonly setupDays: number;
    /** Days since the last return of the worktree's lease. */
    readonly poolDays: number;
    /** Free worktrees that stay, those used last. */
    readonly poolWorktrees: number;
  };
}
