import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput, gitText } from "./git.ts";
import type { Quarantine } from "./quarantine.ts";

const NO_OBJECT = "0".repeat(40);

/**
 * Moves the commits between base and tip from the quarantine into the user's repository, checked by index-pack
 * with --strict. Touches no ref. May be called again: the same objects make the same pack.
 */
export async function transferObjects(
  quarantine: Quarantine,
  target: Git,
  range: { readonly base: string; readonly tip: string },
): Promise<Result<void, Failure>> {
  const directory = join(quarantine.dir, "outgoing");
  await mkdir(directory, { recursive: true });
  const packed = await gitText(
    quarantine.git,
    ["pack-objects", "--revs", "--delta-base-offset", "-q", join(directory, "pack")],
    { stdin: `${range.tip}\n^${range.base}\n`, deadlineMs: DEADLINES.gitLongMs },
  );
  if (!packed.ok) return packed;
  const pack = await readFile(join(directory, `pack-${packed.value}.pack`));
  const indexed = await gitOutput(target, ["index-pack", "--stdin", "--strict", "--fix-thin"], {
    stdin: pack,
    deadlineMs: DEADLINES.gitLongMs,
  });
  return indexed.ok ? ok(undefined) : indexed;
}

export async function readRef(git: Git, ref: string): Promise<string | undefined> {
  const exit = await git.exec(["rev-parse", "--verify", "--quiet", "--end-of-options", ref]);
  return exit.code === 0 ? exit.stdout.toString("utf8").trim() : undefined;
}

/** Whether a commit is still in the repository; `git gc` collects what no ref leads to. */
export async function hasCommit(git: Git, commit: string): Promise<boolean> {
  return (await git.exec(["cat-file", "-e", `${commit}^{commit}`])).code === 0;
}

/** Creates a ref; an existing one is never overwritten, except that the same value is fine (a step done twice). */
export async function createRef(
  git: Git,
  ref: string,
  value: string,
): Promise<Result<void, Failure>> {
  const exit = await git.exec([
    "update-ref",
    "--no-deref",
    "-m",
    "guardloop: publish",
    ref,
    value,
    NO_OBJECT,
  ]);
  if (exit.code === 0) return ok(undefined);
  const present = await readRef(git, ref);
  if (present === value) return ok(undefined);
  if (present !== undefined) return fail("branch-exists", `${ref} exists already, at ${present}.`);
  return fail("git-failed", `${ref} could not be created: ${exit.stderr.toString("utf8").trim()}`);
}

/** Deletes a ref if it still has the value; a ref that is gone is fine. */
export async function deleteRef(
  git: Git,
  ref: string,
  value: string,
): Promise<Result<void, Failure>> {
  const exit = await git.exec(["update-ref", "--no-deref", "-d", ref, value]);
  if (exit.code === 0 || (await readRef(git, ref)) === undefined) return ok(undefined);
  return fail("git-failed", `${ref} could not be deleted: ${exit.stderr.toString("utf8").trim()}`);
}
