import { z } from "zod";
import { setting } from "../setting.ts";

const STANDARD_DAYS = 14;
const STANDARD_RECORD_DAYS = 90;
const STANDARD_POOL_DAYS = 30;
const STANDARD_POOL_WORKTREES = 16;

/** A count as a number, as its digits (from a command line), or `never`, which becomes infinity: it never comes. */
function countOrNever(largest: number): z.ZodType<number> {
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d{1,6}$/)
        .transform(Number),
    ])
    .pipe(z.number().min(0).max(largest))
    .or(z.literal("never").transform(() => Infinity));
}

const DAYS = countOrNever(36_500);
const EXPECTS_DAYS = 'days, from 0 to 36500, or "never"';

export const automatic = setting({
  key: "retention.automatic",
  guard: "GUARD_RETENTION",
  flag: { name: "--retention", takes: "MODE" },
  kind: "text",
  schema: z.enum(["on", "off"]),
  expects: "on or off",
  standard: "on",
  description: "Whether what may go is removed by itself after `guardloop run` has ended.",
  loosening: "never",
});

export const branchDays = setting({
  key: "retention.branch_days",
  guard: "GUARD_BRANCH_DAYS",
  flag: { name: "--branch-days", takes: "N" },
  kind: "number",
  schema: z.number().min(0).max(36_500),
  expects: "days, from 0 to 36500",
  standard: STANDARD_DAYS,
  description: "Days a landed or discarded branch is kept before it may be pruned.",
  // A repository must not be able to have somebody's work thrown away sooner.
  loosening: { when: `below ${STANDARD_DAYS}`, test: (days) => days < STANDARD_DAYS },
});

export const recordDays = setting({
  key: "retention.record_days",
  guard: "GUARD_RECORD_DAYS",
  flag: { name: "--record-days", takes: "N" },
  kind: "text",
  schema: DAYS,
  expects: EXPECTS_DAYS,
  standard: STANDARD_RECORD_DAYS,
  description: "Days the record of a landed, discarded or empty run is kept.",
  loosening: { when: `below ${STANDARD_RECORD_DAYS}`, test: (days) => days < STANDARD_RECORD_DAYS },
});

export const snapshotDays = setting({
  key: "retention.snapshot_days",
  guard: "GUARD_SNAPSHOT_DAYS",
  flag: { name: "--snapshot-days", takes: "N" },
  kind: "text",
  schema: DAYS,
  expects: EXPECTS_DAYS,
  standard: STANDARD_DAYS,
  description: "Days a snapshot is kept whose work could not be exported.",
  loosening: { when: `below ${STANDARD_DAYS}`, test: (days) => days < STANDARD_DAYS },
});

export const setupDays = setting({
  key: "retention.setup_days",
  guard: "GUARD_SETUP_DAYS",
  flag: { name: "--setup-days", takes: "N" },
  kind: "text",
  schema: DAYS,
  expects: EXPECTS_DAYS,
  standard: STANDARD_POOL_DAYS,
  description: "Days a result of setup, or a cache, is kept after its last use.",
  loosening: { when: `below ${STANDARD_POOL_DAYS}`, test: (days) => days < STANDARD_POOL_DAYS },
});

export const poolDays = setting({
  key: "retention.pool_days",
  guard: "GUARD_POOL_DAYS",
  flag: { name: "--pool-days", takes: "N" },
  kind: "text",
  schema: DAYS,
  expects: EXPECTS_DAYS,
  standard: STANDARD_POOL_DAYS,
  description: "Days a free worktree of the built-in pool is kept after its last use.",
  loosening: { when: `below ${STANDARD_POOL_DAYS}`, test: (days) => days < STANDARD_POOL_DAYS },
});

export const poolWorktrees = setting({
  key: "retention.pool_worktrees",
  guard: "GUARD_POOL_WORKTREES",
  flag: { name: "--pool-worktrees", takes: "N" },
  kind: "text",
  schema: countOrNever(64),
  expects: 'a number from 0 to 64, or "never"',
  standard: STANDARD_POOL_WORKTREES,
  description: "Free worktrees of the built-in pool that are kept, those used last.",
  loosening: {
    when: `below ${STANDARD_POOL_WORKTREES}`,
    test: (count) => count < STANDARD_POOL_WORKTREES,
  },
});
