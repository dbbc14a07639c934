import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Exit } from "../../process/command.ts";
import type { Lease } from "../port.ts";
import { commandLine } from "./command-line.ts";
import { type Complaint, complaint } from "./complaint.ts";
import type { TreehousePool } from "./pool.ts";
import { status } from "./status.ts";

type Returned = Result<"returned" | "already-returned", Failure>;

/**
 * Returns a lease by its id and confirms it: on 2.x `return` can end with 0 and keep the lease. Only that case is
 * tried a second time.
 */
export async function returnLease(pool: TreehousePool, lease: Lease): Promise<Returned> {
  const first = await attempt(pool, lease);
  if (first !== "kept-silently") return first;
  const second = await attempt(pool, lease);
  if (second !== "kept-silently") return second;
  return fail("release-failed", `treehouse says it returned ${lease.path} but keeps the lease.`, {
    cure: cureFor(pool, lease),
  });
}

async function attempt(pool: TreehousePool, lease: Lease): Promise<Returned | "kept-silently"> {
  const exit = await pool.caller.call(returnArgs(pool, lease));
  if (!exit.ok) return exit;
  if (heldByNobodyOrOther(exit.value)) return ok("already-returned");
  const ended = exit.value.code === 0 ? "well" : "badly";
  const why = complaint(exit.value, "return");
  const now = await status(pool);
  if (!now.ok)
    return kept(pool, lease, {
      sentence: `It is not known whether the lease of ${lease.path} was returned: ${now.error.message}`,
      lines: why.lines,
    });
  if (!now.value.some((row) => row.lease_id === lease.id))
    return ok(ended === "well" ? "returned" : "already-returned");
  return ended === "well" ? "kept-silently" : kept(pool, lease, why);
}

/** The precondition failed; treehouse touched nothing. */
function heldByNobodyOrOther(exit: Exit): boolean {
  return (
    exit.code === 1 && /not leased|identity does not match/i.test(exit.stderr.toString("utf8"))
  );
}

function kept(pool: TreehousePool, lease: Lease, why: Complaint): Result<never, Failure> {
  return fail("release-failed", why.sentence, { cure: cureFor(pool, lease), details: why.lines });
}

function cureFor(pool: TreehousePool, lease: Lease): string {
  const command = commandLine(["treehouse", ...returnArgs(pool, lease)]);
  return `Run \`guardloop recover\`, or in your repository: ${command}`;
}

function returnArgs(pool: TreehousePool, lease: Lease): readonly string[] {
  return ["return", "--root", pool.root, "--force", "--if-lease-id", lease.id, lease.path];
}
