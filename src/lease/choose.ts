import { basename, join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Git } from "../git/git.ts";
import { findProgram } from "../process/find-program.ts";
import { builtinPool } from "./builtin.ts";
import type { LeasePool } from "./port.ts";
import { treehousePool } from "./treehouse.ts";

export interface LeasePoolSetup {
  readonly env: HostEnvironment;
  /** The user's own git, bound to the principal checkout. */
  readonly git: Git;
  /** Absolute directory of all pools, below guardloop's state directory. */
  readonly poolRoot: string;
  /** One path component that no other clone has. */
  readonly repositoryId: string;
  /** Absolute paths: top of the principal checkout, and the common Git directory. */
  readonly repository: { readonly topLevel: string; readonly commonDir: string };
  /** Limit of every treehouse call, in milliseconds. */
  readonly treehouseDeadlineMs?: number;
}

/**
 * Picks the pool. `auto` takes treehouse when a supported one is on PATH; the pool's description says which it is
 * and, for the built-in one, why.
 *
 * @returns for `treehouse` alone: `tool-missing` or `tool-unsupported`.
 */
export async function chooseLeasePool(
  kind: "auto" | "builtin" | "treehouse",
  setup: LeasePoolSetup,
): Promise<Result<LeasePool, Failure>> {
  if (kind === "builtin") return ok(builtin(setup));
  const treehouse = await treehouseOnPath(setup);
  if (treehouse.ok || kind === "treehouse") return treehouse;
  return ok(builtin(setup, treehouse.error.message.replace(/\.$/, "")));
}

async function treehouseOnPath(setup: LeasePoolSetup): Promise<Result<LeasePool, Failure>> {
  const program = findProgram("treehouse", setup.env.path);
  if (program === undefined)
    return fail("tool-missing", "treehouse is not on PATH.", {
      cure: "Install treehouse 2.2 or newer but below 4, or pass --lease builtin.",
    });
  const deadlineMs = setup.treehouseDeadlineMs;
  return treehousePool({
    program,
    env: setup.env,
    root: join(setup.poolRoot, setup.repositoryId, "treehouse"),
    repository: setup.repository,
    git: setup.git,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
}

function builtin(setup: LeasePoolSetup, note?: string): LeasePool {
  return builtinPool({
    git: setup.git,
    poolRoot: setup.poolRoot,
    repositoryId: setup.repositoryId,
    commonDir: setup.repository.commonDir,
    basename: basename(setup.repository.topLevel) || "worktree",
    host: setup.env.hostname,
    ...(note === undefined ? {} : { note }),
  });
}
