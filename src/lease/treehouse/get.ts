import { writeFile } from "node:fs/promises";
import { isAbsolute, join, normalize, sep } from "node:path";
import * as z from "zod";
import { type Failure, fail, failure } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { gitOutput } from "../../git/git.ts";
import type { Lease, LeaseRequest } from "../port.ts";
import { gitIn } from "../git-in.ts";
import { explainOwnership, sight } from "../sighting.ts";
import { commitId, problemWith, problemWithSighted } from "../worktree-check.ts";
import { complaint } from "./complaint.ts";
import type { TreehousePool } from "./pool.ts";
import { returnLease } from "./return.ts";
import { check, leasesIn, parseJson, status } from "./status.ts";
import { wedgeSentences, worktreesOnDisk } from "./wedge.ts";

const leaseLine = z.object({ path: z.string().min(1), lease_id: z.string().min(1) });

/**
 * Leases a worktree and puts it at the base. Whatever goes wrong after treehouse was asked, the leases it made for
 * this holder are returned again; the holder must therefore be unique to the request.
 */
export async function acquire(
  pool: TreehousePool,
  request: LeaseRequest,
): Promise<Result<Lease, Failure>> {
  const base = await commitId(pool.git, request.base);
  if (!base.ok)
    return fail(
      "lease-failed",
      `The repository has no commit ${request.base} to lease a worktree at.`,
    );
  const lease = await askForLease(pool, request.holder);
  if (!lease.ok) return lease;
  const problem = await putAtBase(pool, lease.value, base.value);
  const held = await check(pool, lease.value);
  if (!held.ok && held.error.code === "lease-lost") return held;
  if (problem === undefined)
    return held.ok ? lease : giveBack(pool, lease.value, held.error.message);
  return giveBack(pool, lease.value, `treehouse leased ${lease.value.path}, but it ${problem}.`);
}

async function giveBack(
  pool: TreehousePool,
  lease: Lease,
  why: string,
): Promise<Result<never, Failure>> {
  const returned = await returnLease(pool, lease);
  return fail("lease-failed", why, {
    details: returned.ok ? [] : [returned.error.message, returned.error.cure],
  });
}

async function askForLease(pool: TreehousePool, holder: string): Promise<Result<Lease, Failure>> {
  const args = ["get", "--root", pool.root, "--lease", "--json", "--no-fetch"];
  args.push("--lease-holder", holder);
  if (pool.version.major === 3) args.push("--include-file", await emptyIncludeFile(pool));
  const exit = await pool.caller.call(args);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0 || exit.value.ended !== "by-itself") {
    const why = complaint(exit.value, "get");
    return cleanUp(pool, holder, failure("lease-failed", why.sentence, { details: why.lines }));
  }
  const answer = parseLease(exit.value.stdout.toString("utf8"));
  if (answer === undefined)
    return cleanUp(pool, holder, failure("lease-failed", "treehouse get printed no lease."));
  const lease: Lease = { kind: "treehouse", holder, ...answer };
  if (isBelow(pool.root, lease.path)) return ok(lease);
  const message = `treehouse leased ${lease.path}, which is not below ${pool.root}.`;
  return cleanUp(pool, holder, failure("lease-failed", message));
}

/** 3.x copies ignored files such as `.env` into the worktree when the repository asks for it; with this, none. */
async function emptyIncludeFile(pool: TreehousePool): Promise<string> {
  const path = join(pool.root, "include-nothing");
  await writeFile(path, "", { mode: 0o600 });
  return path;
}

/** The first line that is a lease; hooks and banners may have found their way around it. */
function parseLease(stdout: string): { readonly path: string; readonly id: string } | undefined {
  for (const line of stdout.split("\n")) {
    const parsed = leaseLine.safeParse(parseJson(line));
    if (parsed.success) return { path: parsed.data.path, id: parsed.data.lease_id };
  }
  return undefined;
}

function isBelow(root: string, path: string): boolean {
  return isAbsolute(path) && normalize(path) === path && path.startsWith(root + sep);
}

/** A failed or killed `get` may have leased something all the same, or left a directory treehouse cannot see. */
async function cleanUp(
  pool: TreehousePool,
  holder: string,
  why: Failure,
): Promise<Result<never, Failure>> {
  const more: string[] = [];
  const onDisk = await worktreesOnDisk(pool.root);
  const rows = await status(pool);
  if (!rows.ok) more.push(`What it left could not be looked up: ${rows.error.message}`);
  for (const lease of leasesIn(rows.ok ? rows.value : [], (each) => each === holder)) {
    const returned = await returnLease(pool, lease);
    if (!returned.ok) more.push(returned.error.message, returned.error.cure);
  }
  if (rows.ok) more.push(...wedgeSentences(onDisk, rows.value));
  return err({ ...why, details: [...why.details, ...more] });
}

/**
 * treehouse has no flag for a commit and chooses a branch's tip, so we move to the base and verify. Before we write, we
 * ask once more whose worktree it is; a lease that is taken back between the answer and the checkout is found afterwards,
 * and by then the checkout has happened: treehouse gives no file that git could look for.
 */
async function putAtBase(
  pool: TreehousePool,
  lease: Lease,
  base: string,
): Promise<string | undefined> {
  const { path } = lease;
  const expected = { path, commonDir: pool.commonDir, base };
  const found = await sight(pool.git, path, pool.commonDir);
  if (found.owner !== "ours") return explainOwnership(found.owner);
  const head = found.head.ok ? found.head.value : undefined;
  if (head?.commit === base && head.attachedTo === "")
    return problemWithSighted(pool.git, found, expected);
  const held = await check(pool, lease);
  if (!held.ok) return `could not be put at ${base}: ${held.error.message}`;
  const args = ["checkout", "--quiet", "--detach", base];
  const moved = await gitOutput(gitIn(pool.git, path), args, { deadlineMs: DEADLINES.gitLongMs });
  if (!moved.ok) return `could not be put at ${base}: ${moved.error.message}`;
  return problemWith(pool.git, expected);
}
