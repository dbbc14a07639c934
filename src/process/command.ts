/** Environment of a child: always built, never inherited. */
export type Environment = Readonly<Record<string, string>>;

/** Limits that the kernel puts on a child and on everything it starts, each process for itself. */
export interface Bounds {
  /**
   * Address space: memory that is asked for and files that are mapped. Beyond it the child is refused memory. Not in
   * force where the system has no such limit (macOS).
   */
  readonly addressSpaceBytes: number;
  /** The largest file that may be written; rounded down to 512 bytes. Beyond it the child gets SIGXFSZ. */
  readonly fileBytes: number;
  /** Processor time over all threads. Beyond it the child gets SIGXCPU, and five seconds later SIGKILL. */
  readonly cpuSeconds: number;
}

export interface Command {
  /** Program (an absolute path, from `findProgram`) and its arguments. Never a shell string. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Environment;
  /** Whole standard input; without it the child reads end-of-file at once. */
  readonly stdin?: string | Uint8Array;
  /** The child's process group is ended after this time. */
  readonly deadlineMs: number;
  /** Bytes kept of each output stream; what comes after is dropped and reported. Default 64 MiB. */
  readonly maxOutputBytes?: number;
  /** Called for every chunk as it comes, also for those beyond `maxOutputBytes`. */
  readonly onOutput?: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  /** Aborting ends the child's process group like the deadline does. */
  readonly signal?: AbortSignal;
  /**
   * Absolute path of a file: the program is started only while there is one, else the child ends with `FENCED`. The child
   * looks for itself, right before it becomes the program, so a process that was stopped for a while does not act on
   * what it had seen before.
   */
  readonly onlyWhile?: string;
  /** Limits of the child's resources. A program that cannot be started then ends with status 126 or 127. */
  readonly bounds?: Bounds;
}

/** How a child ended. A non-zero exit code is data, not an exception. */
export interface Exit {
  readonly argv: readonly [string, ...string[]];
  /** Null when a signal ended the child. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly ended: "by-itself" | "deadline" | "aborted";
  /** True when a stream was longer than `maxOutputBytes`. */
  readonly truncated: boolean;
  readonly durationMs: number;
  /** The bounds that were in force, where there were any. */
  readonly bounds?: Bounds;
}

/** The child never ran, for example because the program is not there. */
export interface NotStarted {
  readonly argv: readonly [string, ...string[]];
  /** Node's error code, for example ENOENT or EACCES. */
  readonly reason: string;
}
