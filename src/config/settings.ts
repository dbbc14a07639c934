import type { FindingPolicy } from "../core/findings.ts";

/** Every setting with its final value. Where each came from is kept beside it, see `ResolvedSettings`. */
export interface Settings {
  readonly plan: {
    /** Globs relative to the repository's root. */
    readonly globs: readonly string[];
    /** Statuses that make a task runnable. */
    readonly runnable: readonly ("ready" | "planned")[];
  };
  readonly agent: {
    readonly name: "command" | "codex" | "claude" | undefined;
    /** The program and arguments of agent `command`, or extra arguments for the others. */
    readonly command: readonly string[];
    readonly model: string | undefined;
    /** Names of variables passed into the container. */
    readonly passEnv: readonly string[];
    readonly authorName: string;
    readonly authorEmail: string;
  };
  readonly network: { readonly mode: "none" | "bridge" };
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
  };
  readonly limits: {
    readonly wallMinutes: number;
    readonly idleMinutes: number;
    readonly completionMinutes: number;
    /** On the disk, beyond what the snapshot had at the start. */
    readonly diskBytes: number;
    /** Files and directories, beyond those the snapshot had at the start. */
    readonly files: number;
  };
  readonly lease: { readonly kind: "auto" | "builtin" | "treehouse" };
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
  readonly retention: {
    /** Days since the decision after which a landed or discarded branch may be pruned. */
    readonly branchDays: number;
  };
}
