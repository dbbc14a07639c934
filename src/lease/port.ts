import type { Failure } from "../core/failures.ts";
import type { Result } from "../core/result.ts";

/** The right to use one worktree of a pool, until returned. */
export interface Lease {
  readonly kind: "builtin" | "treehouse";
  /** New on every acquisition; a return with another id touches nothing (fencing). */
  readonly id: string;
  /** Label in the pool, `guardloop:<run-id>`: finds the lease after a crash. */
  readonly holder: string;
  /** The leased worktree, an absolute path exactly as the pool names it. */
  readonly path: string;
}

export interface LeaseRequest {
  readonly holder: string;
  /** Commit the worktree is put at, detached; verified before the lease is handed out. */
  readonly base: string;
}

/**
 * A pool of worktrees of one repository.
 *
 * A worktree that is handed out is detached at `base`, clean but for ignored files (a pool keeps those between
 * leases), belongs to this repository (same common Git directory), and is held by nobody else.
 */
export interface LeasePool {
  readonly kind: Lease["kind"];
  /** For people: which pool and which version, for example `treehouse v2.3.0`. */
  readonly description: string;
  /**
   * Not idempotent: two calls give two leases. On failure nothing stays leased. The caller writes its intent down
   * before, so that `find` can clean up after a crash in the middle.
   */
  acquire(request: LeaseRequest): Promise<Result<Lease, Failure>>;
  /**
   * Whether the lease is still ours, `lease-lost` when it is not. Ids are never used again, so one that holds now has
   * held all along: what was read from the worktree until now was ours.
   */
  check(lease: Lease): Promise<Result<void, Failure>>;
  /** May be called twice; confirmed with the pool. A lease that is no longer ours counts as returned. */
  release(lease: Lease): Promise<Result<"returned" | "already-returned", Failure>>;
  /** Asks the pool, not our notes, for the leases whose holder begins with the prefix. */
  find(holderPrefix: string): Promise<Result<readonly Lease[], Failure>>;
  /** Worktrees on disk that the pool's tool does not know, so that it cannot work: what a killed call left. */
  wedged?(): Promise<Result<readonly string[], Failure>>;
  /**
   * Removes one of those, if it is still one and holds nothing that could not be had again. May be called again.
   *
   * @returns why it stays, to follow "it stays, because"; undefined when it is gone.
   */
  unwedge?(path: string): Promise<Result<string | undefined, Failure>>;
  /** Removes what killed processes left of leases that were never handed out. Called by recovery; may be called twice. */
  tidy(): Promise<void>;
  /** What is wrong with the pool, a sentence each with its cure; for `doctor`. Changes nothing. */
  inspect(): Promise<Result<readonly string[], Failure>>;
}
