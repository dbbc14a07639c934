/** In place of a uid: the program is there, but would not raise anybody's rights. */
export const NOT_SETUID = "not setuid";

/** What a process in the container finds. Plain JSON; it comes out of a container, so it is read as a claim. */
export interface Found {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly userName: string;
  readonly hostname: string;
  /** Of /proc/self/status: CapInh, CapPrm, CapEff, CapBnd, CapAmb, NoNewPrivs, Seccomp. */
  readonly status: Readonly<Record<string, string>>;
  /** Effective uid of a program of the image that is setuid root, `not setuid`, or the error code of starting it. */
  readonly setuid: string;
  readonly firstProcess: string;
  /** Command names of all processes but the probe's own. */
  readonly processes: readonly string[];
  readonly interfaces: readonly string[];
  readonly routes: number;
  /** Address to the error code of connecting there, or what else came of it. */
  readonly outside: Readonly<Record<string, string>>;
  /** Name to the error code of looking it up, or what else came of it. */
  readonly lookups: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
  readonly cgroup: Readonly<Record<string, string>>;
  readonly cgroupPaths: readonly string[];
  readonly oomScoreAdj: string;
  /** Directories in which something could be made; what is below one of them is not looked at. */
  readonly writable: readonly string[];
  /** Error code of opening each of these for writing, or `opened`. */
  readonly opening: Readonly<Record<string, string>>;
  /** What of the kernel's own files shows something: path to what was seen. */
  readonly unmasked: Readonly<Record<string, string>>;
  /** `done`, `refused` or `no such program`. */
  readonly privileged: Readonly<Record<"mount" | "mknod" | "unshare", string>>;
  readonly executable: Readonly<Record<string, string>>;
  /** Mount point to its options and source, for everything that is not the kernel's own. */
  readonly mounts: readonly MountPoint[];
  readonly devices: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly sockets: readonly string[];
  readonly ofTheHost: OfTheHost;
}

export interface MountPoint {
  readonly target: string;
  /** Path on the host's file system, for a bind mount. */
  readonly root: string;
  readonly type: string;
  /** `ro`, `nosuid`, `nodev`, `noexec`, sorted; with sizes of a tmpfs. */
  readonly options: readonly string[];
  readonly source: string;
}

/** What the probe got hold of that belongs to the host. */
export interface OfTheHost {
  /** Where the variable was seen. */
  readonly variableIn: readonly string[];
  /** Paths at which the file could be read; not what is in it, which would then be in the run's record. */
  readonly files: readonly string[];
}

/** What the probe is told to try beyond what it always tries. */
export interface Targets {
  /** `host:port`. */
  readonly addresses: readonly string[];
  readonly names: readonly string[];
  /** Name of a variable in the environment of guardloop itself. */
  readonly variable: string;
  /** Absolute path of a file on the host. */
  readonly file: string;
}
