/** Names below the artifacts directory: the contract between the guest and the host. */
export const ARTIFACT = {
  taskId: "selected-task-id.txt",
  commitMessage: "last-commit-message.txt",
  patches: "patches",
  manifest: "manifest.json",
} as const;

/** Each line that the guest prints about itself begins with it. */
export const SAID_BY_GUEST = "guardloop guest: ";

/**
 * What the guest says on standard error when the agent has ended: the host's completion clock begins with it. A
 * program in the container can say it too, and then only hastens its own end.
 */
export const GUEST_EXPORTS = `${SAID_BY_GUEST}the agent has ended; exporting what it left.`;

/** How the line begins by which the guest says that it begins a setup command; then `1 of 2: ` and the command. */
export const SETUP_BEGINS = `${SAID_BY_GUEST}setup command `;
/** How the lines begin by which the guest says that an agent which ended is not done after all. */
export const GUEST_WAITS = `${SAID_BY_GUEST}waiting for the model API's rate limit to be over`;
export const GUEST_GOES_ON = `${SAID_BY_GUEST}the agent ended without its artifacts and is woken again`;

/** How the agent's history was turned into patches. */
export type HistoryShape =
  | { readonly kind: "linear" }
  /** A declared loss: several commits became one patch. */
  | { readonly kind: "flattened"; readonly reason: string; readonly commits: number };

export interface Identity {
  readonly name: string;
  readonly email: string;
  /** Git's raw form: seconds since the epoch, a space, and the zone as +hhmm. */
  readonly date: string;
}

/** One exported commit. Tree and commit are object ids as the guest saw them. */
export interface PatchEntry {
  readonly file: string;
  readonly commit: string;
  readonly tree: string;
  readonly author: Identity;
  /** The exact message; mail formats mangle messages, so it does not come from the patch. */
  readonly message: string;
}

/** manifest.json, written by the guest; read as untrusted input. */
export interface Manifest {
  readonly version: 1;
  readonly base: string;
  readonly patches: readonly PatchEntry[];
  /** The tree after the last patch; equal to the base's tree when there is none. */
  readonly finalTree: string;
  readonly history: HistoryShape;
  /** True when the guest committed what the agent had left uncommitted. */
  readonly committedLeftovers: boolean;
  /** Ignored files the agent left behind, which are not part of any patch; capped. */
  readonly ignoredLeftBehind: { readonly total: number; readonly names: readonly string[] };
  readonly agent: {
    readonly outcome: "exited" | "signalled" | "not-started" | "stopped" | "not-run";
    readonly exitCode: number | null;
    readonly signal: string | null;
  };
  /** How often its session was woken again after it had ended; missing where it never was. */
  readonly resumed?:
    | {
        /** With a reminder of the artifacts that it had not left. */
        readonly reminders: number;
        /** After a rate limit of the model API. */
        readonly afterLimits: number;
      }
    | undefined;
  /** How often the kernel enforced a limit of the container; null where that cannot be seen from inside. */
  readonly limitsHit?:
    | {
        /** Processes it ended for want of memory. */
        readonly memory: number | null;
        /** Processes and threads it refused. */
        readonly processes: number | null;
      }
    | undefined;
  readonly versions: {
    readonly guest: string;
    readonly node: string;
    readonly git: string;
    /** What the agent's program says of itself; missing where it was not asked or did not say. */
    readonly agent?: string | undefined;
  };
}

/** job.json, written by the host and mounted read-only: what the guest is to do. */
export interface GuestJob {
  readonly version: 1;
  readonly runId: string;
  /** `run`: start the agent, then export. `export`: only export what is there (salvage). `setup`: only run commands. */
  readonly mode: "run" | "export" | "setup";
  /** Of the mode `setup`: lines for `sh -c`, one after another; the first that fails ends the job. */
  readonly commands?: readonly string[];
  /**
   * `container`: the process namespace is the run's own, so every other process may be ended.
   * `none`: a test runs the guest outside a container.
   */
  readonly isolation: "container" | "none";
  readonly base: string;
  readonly agent: {
    readonly argv: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    /** Asks the agent's program for its version; empty or missing: it cannot be asked. */
    readonly versionArgv?: readonly string[];
    /** How to go on with its session when it ended without its artifacts; missing: it is not reminded. */
    readonly reminder?: {
      readonly argv: readonly string[];
      /** Times; after a rate limit it may be woken more often, see `afterLimit`. */
      readonly most: number;
    };
    /** How to go on after a rate limit was over; missing: it is not waited for. */
    readonly afterLimit?: {
      readonly argv: readonly string[];
      readonly most: number;
      /** The model API's socket, where the gateway also says how long the limit lasts. */
      readonly socket: string;
    };
    /** Files the agent's adapter wants below HOME before it starts: relative path to content. */
    readonly homeFiles: Readonly<Record<string, string>>;
  };
  /** Who the agent's commits are by, unless it configures somebody else. */
  readonly author: { readonly name: string; readonly email: string };
  /** Relays to run while the agent works: from a port on 127.0.0.1 to a mounted socket. */
  readonly relays?: readonly { readonly port: number; readonly socket: string }[];
  /**
   * Untracked files the host put there; never swept into a commit. Relative paths; one with a slash at its end stands for
   * everything below.
   */
  readonly overlayPaths: readonly string[];
  readonly paths: {
    readonly workspace: string;
    readonly artifacts: string;
    readonly prompt: string;
    /** Git directory with the base's objects, read-only. */
    readonly baseStore: string;
    /** Index of the base with the stat data of the fresh snapshot, read-only. */
    readonly baseIndex: string;
  };
}
