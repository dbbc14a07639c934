import { existsSync } from "node:fs";
import { join } from "node:path";
import { ok } from "../core/result.ts";
import type { Git } from "../git/git.ts";
import { fenceOf, sweepUnfinished } from "./builtin/claim.ts";
import { acquire } from "./builtin/acquire.ts";
import { find } from "./builtin/find.ts";
import { inspect } from "./builtin/inspect.ts";
import type { Pool } from "./builtin/pool.ts";
import { release } from "./builtin/release.ts";
import { leaseLost } from "./lost.ts";
import { slotOfPath, worktreeName } from "./builtin/slots.ts";
import { type PoolTidy, tidyPool } from "./builtin/tidy.ts";
import type { LeasePool } from "./port.ts";

export interface BuiltinPoolOptions {
  /** The user's own git, bound to the principal checkout. */
  readonly git: Git;
  /** Absolute directory of all built-in pools; each repository has a directory of its own in it. */
  readonly poolRoot: string;
  /** One path component that no other repository has. */
  readonly repositoryId: string;
  /** Common Git directory of the repository, absolute. */
  readonly commonDir: string;
  /** Name of the principal checkout's directory; worktrees are called the same. */
  readonly basename: string;
  readonly host: string;
  /** Why this pool was chosen, for its description. */
  readonly note?: string;
}

/**
 * The pool for everyone who has no treehouse: `git worktree` below guardloop's state directory, at most 64 slots.
 * Several processes may use it at the same time. Nothing is created before the first `acquire`.
 */
export function builtinPool(options: BuiltinPoolOptions): LeasePool {
  const pool = poolOf(options);
  return {
    kind: "builtin",
    description: options.note === undefined ? "built-in pool" : `built-in pool (${options.note})`,
    acquire: (request) => acquire(pool, request),
    async check(lease) {
      const slot = slotOfPath(pool.root, lease.path);
      const holds = slot !== undefined && existsSync(fenceOf(slot, lease.id));
      return holds ? ok(undefined) : leaseLost(lease.path);
    },
    release: (lease) => release(pool, lease),
    find: async (holderPrefix) => ok(await find(pool, holderPrefix)),
    tidy: () => sweepUnfinished(pool.root, pool.host),
    inspect: async () => ok(await inspect(pool)),
  };
}

/** What keeps that pool in order, whatever pool the runs use now. */
export function builtinTidy(options: BuiltinPoolOptions): PoolTidy {
  return tidyPool(poolOf(options));
}

function poolOf(options: BuiltinPoolOptions): Pool {
  return {
    git: options.git,
    root: join(options.poolRoot, options.repositoryId),
    commonDir: options.commonDir,
    worktree: worktreeName(options.basename),
    host: options.host,
  };
}
