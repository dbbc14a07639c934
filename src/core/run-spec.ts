import type { EgressTotals, GatewaySpec } from "./egress.ts";
import type { FindingPolicy } from "./findings.ts";
import type { StageName } from "./stage-name.ts";
import type { NetworkMode } from "./network.ts";

/** A task as it was offered to the agent; text from the plan, to be escaped when shown. */
export interface OfferedTask {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly line: number;
  readonly acceptance: readonly string[];
}

/** One of several runs of the same task on the same base, made to be compared. */
export interface Attempt {
  /** Shared by all attempts: the id of the first of them. */
  readonly group: string;
  /** From 1. */
  readonly number: number;
  /** How many were asked for. */
  readonly of: number;
}

export type EngineKind = "docker" | "podman";

/** How an engine starts containers on this host, beyond what is asked of every engine. */
export interface EngineSetup {
  /** The OCI runtime that was chosen, for example `runsc`; empty for the engine's own default. */
  readonly runtime: string;
  /** `keep-id`: a rootless engine, in whose containers the user keeps the uid and gid of the host. */
  readonly userNamespace: "host" | "keep-id";
  /** Open files a container may have. */
  readonly openFiles: number;
  /** Processes of the user, counted on the whole host; null where the engine's own default is within the host's. */
  readonly processes: number | null;
}

/** What Docker needs; also what a record without a set-up means. */
export const DOCKER_SETUP: EngineSetup = {
  runtime: "",
  userNamespace: "host",
  openFiles: 16_384,
  processes: null,
};

/** How a snapshot gets the base's files: over layers that are kept, as clones that share their blocks, or written anew. */
export type SnapshotMethod = "overlay" | "reflink" | "copy";

/** Everything a run needs, resolved, frozen and hashed before it starts; kept as spec.json. */
export interface RunSpec {
  readonly version: 1;
  readonly runId: string;
  /** ISO 8601, UTC. Also the committer date of what is imported, so that a repeated import gives the same commits. */
  readonly startedAt: string;
  readonly repository: {
    readonly id: string;
    readonly topLevel: string;
    readonly commonDir: string;
    readonly name: string;
  };
  /** Short name of the branch a promotion lands on. */
  readonly branch: string;
  readonly principalHead: string;
  /** The commit the agent starts from: the principal HEAD, or the tip of the run before in a stack. */
  readonly base: string;
  /** The run whose branch is the base, in a stack. */
  readonly parentRun: string | null;
  readonly offered: readonly OfferedTask[];
  /** Not there where the run is no attempt. */
  readonly attempt?: Attempt;
  readonly agent: {
    readonly name: string;
    readonly argv: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    readonly homeFiles: Readonly<Record<string, string>>;
    /** How its program is asked for its version; missing in older records. */
    readonly versionArgv?: readonly string[];
    /** How its session is gone on with when it ended without its artifacts; missing where it is not reminded. */
    readonly reminderArgv?: readonly string[];
    /** The same after a rate limit of the model API; missing where that is not waited for. */
    readonly afterLimitArgv?: readonly string[];
    /** What became of the program's own sandbox, in one sentence; missing where it has none. */
    readonly innerSandbox?: string;
    readonly passEnv: readonly string[];
    readonly author: { readonly name: string; readonly email: string };
  };
  readonly prompt: string;
  readonly engine: {
    readonly kind: EngineKind;
    readonly version: string;
    /** The OCI runtime in force, chosen or default. This and what follows is absent in records of 0.1. */
    readonly runtime?: string;
    readonly rights?: "rootful" | "rootless";
    readonly setup?: EngineSetup;
  };
  readonly image: {
    readonly name: string;
    readonly id: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  /** Every setting with where it came from, for the record; nothing is decided by it. Missing in older records. */
  readonly settings?: readonly {
    readonly key: string;
    readonly value: string | number | readonly string[];
    readonly origin: string;
    readonly where: string | null;
  }[];
  readonly network: NetworkMode;
  /** In the network mode `gateway` alone. */
  readonly gateway?: GatewaySpec;
  /** Hosts that the agent may reach through the proxy; missing or empty for none. */
  readonly allowHosts?: readonly string[];
  /** Commands that run before the agent, with package registries in reach; missing where there are none. */
  readonly setup?: SetupSpec;
  readonly container: {
    readonly uid: number;
    readonly gid: number;
    readonly memoryBytes: number;
    readonly cpus: number;
    readonly pids: number;
    readonly tmpBytes: number;
    readonly homeBytes: number;
  };
  /** Containers of all runs of this user that may be there at once; missing in older records. */
  readonly containersOnHost?: number;
  readonly limits: RunLimits;
  readonly lease: "builtin" | "treehouse";
  readonly overlay: { readonly include: readonly string[] };
  /** Missing in older records: all was copied. */
  readonly snapshot?: { readonly method: SnapshotMethod; readonly why: string };
  /** Not there in specs of version 0.1: authors were kept. */
  readonly import?: { readonly authorship: "keep" | "replace" };
  /** Commands that the result must pass; empty when the project has none. */
  readonly validate: readonly ValidationCommand[];
  readonly plan: {
    readonly globs: readonly string[];
    readonly runnable: readonly ("ready" | "planned")[];
    /** SHA-256 over the plan's files at the base; missing in older records. */
    readonly hash?: string;
  };
  /** How findings are judged; a spec that was written before there was such a thing has none. */
  readonly policy?: FindingPolicy;
  /** How long a snapshot is kept whose work could not be exported; null for ever. Missing in older specs: 14. */
  readonly snapshotDays?: number | null;
  /** Repository-relative paths that decide how guardloop itself behaves; a branch that changes one is blocked. */
  readonly controlPaths: readonly string[];
}

/** The setup phase of a run: commands in a container of their own, whose result is kept under a key and reused. */
export interface SetupSpec {
  readonly commands: readonly string[];
  /** Host names, exact or `*.` and a suffix. */
  readonly allowHosts: readonly string[];
  /** Globs of paths in the repository that decide what the commands fetch. */
  readonly lockfiles: readonly string[];
  /** Paths and globs of what is kept of the work tree; empty for everything that Git does not track. */
  readonly keep: readonly string[];
  /** Directories below HOME that are kept for the repository, written by setup only. */
  readonly caches: readonly string[];
  readonly limitMs: number;
  /** Names the result; made of everything above but the time, the image, and the lockfiles at the principal HEAD. */
  readonly key: string;
}

/** When an agent is ended. All but the first two are absent in records of 0.1: there was no such limit. */
export interface RunLimits {
  readonly wallMs: number;
  readonly idleMs: number;
  /** For an agent that is done, and for the export of its work. */
  readonly completionMs?: number;
  /** On the disk, beyond the snapshot's first size. */
  readonly diskBytes?: number;
  /** Files and directories, beyond those of the fresh snapshot. */
  readonly files?: number;
  /** Of `agent.log` and of `agent.jsonl`, each. */
  readonly logBytes?: number;
}

/** One command of the project, run by `sh -c` in a sealed container. */
export interface ValidationCommand {
  readonly name: string;
  readonly line: string;
  readonly limitMs: number;
}

export interface ValidationResult {
  readonly name: string;
  readonly line: string;
  readonly outcome: "passed" | "failed" | "timed-out" | "out-of-memory" | "not-run";
  readonly exitCode: number | null;
  readonly durationMs: number;
}

/** The outcome of all commands on exactly one tree; another tree has none. */
export interface Validation {
  readonly tree: string;
  readonly verdict: "passed" | "failed";
  readonly results: readonly ValidationResult[];
}

/** The most that was seen of a container; what happened between two looks is not in it. */
export interface ResourcePeaks {
  /** 100 is one processor. */
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  /** How often it was looked at. */
  readonly samples: number;
}

/** How the container came to its end. */
export interface AgentEnding {
  readonly kind:
    | "finished"
    | "wall-limit"
    | "idle-limit"
    | "completion-limit"
    | "disk-limit"
    | "budget-limit"
    | "out-of-memory"
    | "killed"
    | "interrupted";
  /** Exit status of the guest. */
  readonly exitCode: number;
  readonly startedAt: string;
  readonly endedAt: string;
  /** The engine reported that the memory limit was hit, even where the run went on. */
  readonly hitMemoryLimit: boolean;
  /** The most that was seen of the container; missing where nothing was measured. */
  readonly peaks?: ResourcePeaks;
  /** What of the agent's logs is not there; missing where they are whole. */
  readonly log?: MissingLog;
  /** What was seen of the disk; missing where it was not looked at. */
  readonly disk?: DiskGrowth;
  /** What went through the gateway; missing where there was none. */
  readonly egress?: EgressTotals;
  /** Of an ending at a budget: the sentence that says which. */
  readonly exhausted?: string;
  /** Of an ending at the completion limit: what had come before. */
  readonly expected?: ExpectedEnd;
}

/** What two logs of one agent lack, together. */
export interface MissingLog {
  /** Cut out of their middle, to stay within their limit. */
  readonly cutBytes: number;
  /** That the disk did not take. */
  readonly lostBytes: number;
  /** The system's name for why they could not be written, for example ENOSPC. */
  readonly problem: string | null;
}

/**
 * Why an agent was expected to end: its required files were there and it was silent (`artifacts`), it had said so in
 * its event stream (`said`), or it had ended and its work was being exported (`export`).
 */
export type ExpectedEnd = "artifacts" | "said" | "export";

/** What a directory tree takes, as the file system counts it: sparse files by their blocks, hard links once. */
export interface DiskUse {
  readonly bytes: number;
  /** Files, directories and everything else that has a name. */
  readonly entries: number;
}

/** How much more a snapshot and the artifacts took than at the start; the most that was seen. */
export interface DiskGrowth extends DiskUse {
  /** The limit that it went over; `depth` is nested deeper than can be measured. */
  readonly over: "none" | "bytes" | "entries" | "depth";
}

export interface StageTiming {
  readonly stage: StageName;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: "running" | "done" | "failed";
}
