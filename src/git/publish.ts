import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES, GIT_BOUNDS } from "../core/limits.ts";
import { type Result, err, ok } from "../core/result.ts";
import { withBounds } from "./bounds.ts";
import { type Git, gitFailure, gitText } from "./git.ts";
import type { Quarantine } from "./quarantine.ts";

const NO_OBJECT = "0".repeat(40);

/**
 * Moves the commits between base and tip from the quarantine into the user's repository, checked by index-pack
 * with --strict. Touches no ref. May be called again: the same objects make the same pack.
 *
 * @returns `import-refused` where the check refuses an object, for example a `.gitmodules` that names a program.
 */
export async function transferObjects(
  quarantine: Quarantine,
  target: Git,
  range: { readonly base: string; readonly tip: string },
): Promise<Result<void, Failure>> {
  const packed = await packOf(quarantine, range);
  if (!packed.ok) return packed;
  const pack = await readFile(packed.value);
  const args = ["index-pack", "--stdin", "--strict", "--fix-thin"];
  const indexed = await withBounds(target, GIT_BOUNDS).exec(args, {
    stdin: pack,
    deadlineMs: DEADLINES.gitLongMs,
  });
  if (indexed.code === 0) return ok(undefined);
  const refused = whatFsckRefused(indexed.stderr.toString("utf8"));
  if (refused === undefined) return err(gitFailure(args, indexed));
  return fail("import-refused", `Git's own check of the imported objects refuses one: ${refused}.`);
}

/** Path of a pack with everything between base and tip: the quarantine's one, where that is all it has, or a new one. */
async function packOf(
  { git, dir }: Quarantine,
  { base, tip }: { readonly base: string; readonly tip: string },
): Promise<Result<string, Failure>> {
  const objects = join(dir, "objects");
  const loose = (await readdir(objects)).some((name) => /^[0-9a-f]{2}$/.test(name));
  const packs = (await readdir(join(objects, "pack"))).filter((name) => name.endsWith(".pack"));
  const [only] = packs;
  if (!loose && only !== undefined && packs.length === 1) return ok(join(objects, "pack", only));
  const directory = join(dir, "outgoing");
  await mkdir(directory, { recursive: true });
  const args = ["pack-objects", "--revs", "--delta-base-offset", "-q", join(directory, "pack")];
  const stdin = `${tip}\n^${base}\n`;
  const packed = await gitText(git, args, { stdin, deadlineMs: DEADLINES.gitLongMs });
  return packed.ok ? ok(join(directory, `pack-${packed.value}.pack`)) : packed;
}

/** The first error of git-fsck(1)'s checks: an id in words, and what it is about. It warns of other objects before. */
function whatFsckRefused(complaints: string): string | undefined {
  return /^error: object [0-9a-f]+: (.+)$/m.exec(complaints)?.[1];
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
  // Ids are checked by a pattern of ours; Git has the second word on what they became, and refuses what is no name.
  const wellFormed = await git.exec(["check-ref-format", ref]);
  if (wellFormed.code !== 0)
    return fail("git-failed", `${JSON.stringify(ref)} is not a name that Git takes for a branch.`);
  const present = await readRef(git, ref);
  if (present === value) return ok(undefined);
  if (present !== undefined) return fail("branch-exists", `${ref} exists already, at ${present}.`);
  const inTheWay = await refInTheWay(git, ref);
  if (inTheWay !== undefined)
    return fail("branch-exists", `${ref} cannot be created: ${inTheWay} is in its place.`);
  return fail("git-failed", `${ref} could not be created: ${exit.stderr.toString("utf8").trim()}`);
}

/** A ref below this one, or one that is a directory of it: Git cannot have both. */
async function refInTheWay(git: Git, ref: string): Promise<string | undefined> {
  const below = await git.exec(["for-each-ref", "--count=1", "--format=%(refname)", `${ref}/`]);
  const found = below.stdout.toString("utf8").trim();
  if (below.code === 0 && found !== "") return found;
  const parts = ref.split("/");
  for (let length = parts.length - 1; length > 2; length -= 1) {
    const above = parts.slice(0, length).join("/");
    if ((await readRef(git, above)) !== undefined) return above;
  }
  return undefined;
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
