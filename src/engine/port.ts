import type { Failure } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import type { EngineKind, EngineSetup } from "../core/run-spec.ts";

export interface Mount {
  readonly role:
    | "workspace"
    | "artifacts"
    | "job"
    | "base-store"
    | "passwd"
    | "group"
    /** A socket file of the gateway: to the model API, or to the proxy for allowed hosts. */
    | "model-socket"
    | "proxy-socket"
    /** A directory of a package manager's cache, below HOME. */
    | "cache";
  /** Absolute path on the host. */
  readonly source: string;
  /** Absolute path in the container. */
  readonly target: string;
  readonly access: "ro" | "rw";
}

/**
 * A copy-on-write view of directories of guardloop's own, all absolute on the host: the container sees `lower` and
 * writes to `upper` alone. Owners, modes and inode numbers are those of the layer a file comes from. What `upper` holds
 * afterwards is the kernel's notation: device files 0/0 for what is gone, `trusted.overlay.*` attributes for the rest.
 */
export interface OverlayMount {
  readonly role: "workspace";
  /** Uppermost first. Never changed while a container runs. */
  readonly lower: readonly string[];
  /** Its owner and mode are those of the target. */
  readonly upper: string;
  /** Empty, on the file system of `upper`, the kernel's own; what it leaves there only root can remove. */
  readonly work: string;
  /**
   * What a loss of power may take: as everywhere else, or also what programs had asked the disk to keep. `volatile` spares
   * the wait, at the container's end, for everything that anybody wrote to the file system. It needs Linux 5.10, leaves
   * something in `work` each time, and the kernel mounts no `work` again that was mounted so.
   */
  readonly durability: "usual" | "volatile";
  /** Absolute path in the container. */
  readonly target: string;
}

/** Everything a container is started with; frozen in the run spec. Sizes in bytes. */
export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly setup: EngineSetup;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: { readonly uid: number; readonly gid: number };
  readonly network: "none" | "bridge";
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly tmpBytes: number;
  readonly homeBytes: number;
  /**
   * Directories below HOME, outermost first, in which something is mounted. An engine would make them for root; as file
   * systems of their own in memory they belong to the user.
   */
  readonly homeDirectories?: readonly string[];
  readonly mounts: readonly Mount[];
  /** Refused by `run` where `overlayProblem` (overlay-mount.ts) sees one. */
  readonly overlays?: readonly OverlayMount[];
  /** The whole environment; values are seen in the process list, so no secret belongs here. */
  readonly env: Readonly<Record<string, string>>;
  /** Names only: the engine's client takes their values from its own environment. */
  readonly passEnv: readonly string[];
  readonly workdir: string;
  readonly argv: readonly string[];
}

export interface EngineFacts {
  readonly kind: EngineKind;
  readonly version: string;
  /** Whether the engine has root's rights on the host, or only those of the user who calls it. */
  readonly rights: "rootful" | "rootless";
  /** The OCI runtime that containers will run in, whether chosen or the engine's default. */
  readonly runtime: string;
  readonly setup: EngineSetup;
  /** `unproven`: what the engine says of itself does not prove that a container's limits are kept; start one and look. */
  readonly limits: "kept" | "unproven";
  /** A runtime to take instead when the engine's default one cannot start containers here. */
  readonly otherRuntime: string | undefined;
  /** Sentences for the user. */
  readonly notes: readonly string[];
  readonly cpus: number;
  readonly memoryBytes: number;
}

export interface ImageFacts {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** An image of guardloop's own making without a name. */
export interface NamelessImage {
  readonly id: string;
  readonly sizeBytes: number;
}

export interface ContainerEnd {
  readonly exitCode: number;
  /** From the engine's events, which outlive `--rm`. */
  readonly outOfMemory: boolean;
  /** Asked beside the events. Missing where the container was still there, or the engine did not answer in time. */
  readonly gone?: "proven";
}

/** The end of a container that another process had started. */
export interface FollowedEnd extends Omit<ContainerEnd, "exitCode" | "gone"> {
  /** Undefined where the container was gone before it could be asked. */
  readonly exitCode: number | undefined;
}

/** From when on a container is followed. */
export interface FollowFrom {
  /** The newest output that is known already; from then on it is wanted. */
  readonly output: Date;
  /** When the container was started. */
  readonly started: Date;
}

/** What a container uses at one moment. */
export interface ContainerStats {
  /** 100 is one processor. */
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly memoryLimitBytes: number;
}

export interface OutputSink {
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => void;
}

/**
 * A container engine. Containers are addressed by name, never by the client process that started them.
 * Getting the snapshot in and the artifacts out is part of this port: today by bind mounts.
 */
export interface Engine {
  readonly kind: EngineKind;
  /** For sentences. */
  readonly name: "Docker" | "Podman";
  /** Asks the engine what it is. Fails when it does not answer or is set up in an unsupported way. */
  probe(): Promise<Result<EngineFacts, Failure>>;
  /** Undefined when there is no such image. Never pulls. */
  image(name: string): Promise<Result<ImageFacts | undefined, Failure>>;
  /** The client's argv for a container: a pure function of the spec, kept in the run record. */
  argv(spec: ContainerSpec): readonly [string, ...string[]];
  /**
   * Runs a container to its end. Resolves when the client has ended; where that does not prove that the container is
   * gone, the caller does, with `exists`. A second container of the same name is refused by the engine.
   *
   * @param environment values of `spec.passEnv`.
   */
  run(
    spec: ContainerSpec,
    sink: OutputSink,
    environment: Readonly<Record<string, string>>,
  ): Promise<Result<ContainerEnd, Failure>>;
  /**
   * Follows a container that another process started, to its end; like `run`, but for what the engine has forgotten.
   * Output may come twice around `from.output`; an engine that keeps none gives what is printed from now on.
   */
  follow(name: string, from: FollowFrom, sink: OutputSink): Promise<Result<FollowedEnd, Failure>>;
  /**
   * Sends a signal to the container's first process. No container of that name is not a failure. After KILL, a `run` of
   * that name ends within a minute, whatever the engine does.
   */
  signal(name: string, signal: "TERM" | "KILL"): Promise<Result<void, Failure>>;
  exists(name: string): Promise<Result<boolean, Failure>>;
  /** Kills and removes. May be called twice; no container of that name is not a failure. */
  remove(name: string): Promise<Result<void, Failure>>;
  /** Images that guardloop built (by label) and that have no name at all any more. */
  namelessImages(): Promise<Result<readonly NamelessImage[], Failure>>;
  /**
   * Removes such an image; the engine itself refuses while a container uses it.
   *
   * @returns `kept` when it has a name or a container by now, or is gone.
   */
  removeNamelessImage(id: string): Promise<Result<"removed" | "kept", Failure>>;
  /** What a running container uses now; undefined when there is none of that name. For people only: may be missing. */
  stats?(name: string): Promise<Result<ContainerStats | undefined, Failure>>;
  /** Names and run ids of every container with our labels and this state id, running or not. */
  list(
    stateId: string,
  ): Promise<Result<readonly { readonly name: string; readonly runId: string }[], Failure>>;
}
