import * as z from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Lease } from "../port.ts";
import { leaseLost } from "../lost.ts";
import { complaint } from "./complaint.ts";
import type { TreehousePool } from "./pool.ts";

/** A row of `status --json`; unknown keys are ignored, because every release adds some. */
const row = z.object({
  name: z.string().catch("?"),
  path: z.string(),
  status: z.string().catch(""),
  lease_id: z.string().catch(""),
  lease_holder: z.string().catch(""),
});
const rows = z.array(row);
export type StatusRow = Readonly<z.infer<typeof row>>;

/** Asks treehouse for the worktrees of our pool. */
export async function status(pool: TreehousePool): Promise<Result<readonly StatusRow[], Failure>> {
  const exit = await pool.caller.call(["status", "--root", pool.root, "--json"]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0 || exit.value.ended !== "by-itself") {
    const why = complaint(exit.value, "status");
    return fail("lease-failed", why.sentence, { details: why.lines });
  }
  const parsed = parseStatus(exit.value.stdout.toString("utf8"));
  if (parsed !== undefined) return ok(parsed);
  return fail("lease-failed", "treehouse status --json printed something that is not its pool.");
}

/** Asks treehouse whether a lease still holds. */
export async function check(pool: TreehousePool, lease: Lease): Promise<Result<void, Failure>> {
  const known = await status(pool);
  if (!known.ok) return known;
  const holds = known.value.some((each) => each.lease_id === lease.id && each.path === lease.path);
  return holds ? ok(undefined) : leaseLost(lease.path);
}

/** The whole output, or its first line that is such an array. */
function parseStatus(stdout: string): readonly StatusRow[] | undefined {
  for (const candidate of [stdout, ...stdout.split("\n")]) {
    const parsed = rows.safeParse(parseJson(candidate));
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Rows that are leases of ours; one without an id cannot be returned safely and is left to `inspect`. */
export function leasesIn(
  list: readonly StatusRow[],
  isOurs: (holder: string) => boolean,
): readonly Lease[] {
  return list
    .filter((each) => each.lease_id !== "" && isOurs(each.lease_holder))
    .map((each) => ({
      kind: "treehouse" as const,
      id: each.lease_id,
      holder: each.lease_holder,
      path: each.path,
    }));
}
