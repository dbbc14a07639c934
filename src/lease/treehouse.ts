import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import type { Git } from "../git/git.ts";
import type { LeasePool } from "./port.ts";
import { treehouseCaller } from "./treehouse/caller.ts";
import { acquire } from "./treehouse/get.ts";
import { inspect } from "./treehouse/inspect.ts";
import type { TreehousePool } from "./treehouse/pool.ts";
import { returnLease } from "./treehouse/return.ts";
import { check, leasesIn, status } from "./treehouse/status.ts";
import { unwedge, wedged } from "./treehouse/unwedge.ts";
import { probeVersion } from "./treehouse/version.ts";

export interface TreehousePoolOptions {
  /** Absolute path of treehouse, from `findProgram`. */
  readonly program: string;
  readonly env: HostEnvironment;
  /**
   * Absolute directory for treehouse pools of this repository alone: 2.x tells clones apart only by their origin,
   * so two clones that share a root get each other's worktrees. Each major version has its own directory in it.
   */
  readonly root: string;
  readonly repository: { readonly topLevel: string; readonly commonDir: string };
  /** The user's own git, bound to the principal checkout. */
  readonly git: Git;
  /** Limit of every call, in milliseconds. Default `DEADLINES.treehouseMs`. */
  readonly deadlineMs?: number;
}

/**
 * The pool of treehouse (github.com/kunchenguid/treehouse) 2.2 up to, but not including, 4.
 *
 * @returns `tool-missing` when the program cannot be started, `tool-unsupported` when its version is not one of these.
 */
export async function treehousePool(
  options: TreehousePoolOptions,
): Promise<Result<LeasePool, Failure>> {
  const caller = treehouseCaller({
    program: options.program,
    env: options.env,
    cwd: options.repository.topLevel,
    ...(options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs }),
  });
  const version = await probeVersion(caller);
  if (!version.ok) return version;
  const directory = join(options.root, `v${version.value.major}`);
  await ensurePrivateDirectory(directory);
  const pool: TreehousePool = {
    caller,
    version: version.value,
    // treehouse compares paths as text, so it gets, and gives, the one without symbolic links.
    root: await realpath(directory),
    git: options.git,
    commonDir: options.repository.commonDir,
  };
  return ok(poolPort(pool));
}

function poolPort(pool: TreehousePool): LeasePool {
  return {
    kind: "treehouse",
    description: `treehouse ${pool.version.text}`,
    acquire: (request) => acquire(pool, request),
    check: (lease) => check(pool, lease),
    release: (lease) => returnLease(pool, lease),
    async find(holderPrefix) {
      const rows = await status(pool);
      if (!rows.ok) return rows;
      return ok(leasesIn(rows.value, (holder) => holder.startsWith(holderPrefix)));
    },
    wedged: () => wedged(pool),
    unwedge: (path) => unwedge(pool, path),
    // treehouse keeps its own state; what a killed `get` left is named by `inspect`.
    tidy: async () => undefined,
    inspect: () => inspect(pool),
  };
}
