import { mkdir, open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Git, type GitCall, must, mustText } from "./git.ts";
import type { OwnRepository } from "./own-repository.ts";
import type { PatchFile } from "./patches.ts";
import { isSeriesSound } from "./series-check.ts";

export interface RoundTrip {
  /** The repository that the patches were made in, with every tree they stand for. */
  readonly own: OwnRepository;
  /** Reads the base's objects and nothing of the agent's, as the host's quarantine does. */
  readonly check: OwnRepository;
  readonly directory: string;
  readonly base: string;
  /** An index of the base, where the host gave one. */
  readonly baseIndex: string;
}

/**
 * Applies the written patches as the host will, and compares the tree after each with the tree it stands for.
 *
 * @returns undefined when every tree is the same, else a clause that names the first patch that is not.
 */
export async function roundTripProblem(
  trip: RoundTrip,
  patches: readonly PatchFile[],
  directory: string,
): Promise<string | undefined> {
  if (await isSeriesSound(trip, patches, directory)) return undefined;
  // One by one with an index of everything, which finds the reason.
  const indexFile = join(trip.directory, "check.index");
  const { git } = trip.check;
  await rm(indexFile, { force: true });
  await must(git, ["read-tree", trip.base], { indexFile });
  for (const { file, commit } of patches) {
    const why = await applyMail(trip, join(directory, file), indexFile);
    if (why !== undefined) return `${file} does not apply: ${why}`;
    const tree = await mustText(git, ["write-tree"], { indexFile });
    if (tree !== commit.tree) return `${file} gives tree ${tree} instead of ${commit.tree}`;
  }
  return undefined;
}

async function applyMail(
  trip: RoundTrip,
  patch: string,
  indexFile: string,
): Promise<string | undefined> {
  const { git } = trip.check;
  const mails = join(trip.directory, "mails");
  await rm(mails, { recursive: true, force: true });
  await mkdir(mails);
  const split = await git(["mailsplit", "--keep-cr", `-o${mails}`, "--", patch]);
  if (split.code !== 0 || split.stdout.toString("latin1").trim() !== "1")
    return "it is not exactly one mail";
  const diff = join(mails, "diff");
  const info = [
    "mailinfo",
    "-k",
    "--no-scissors",
    "--encoding=UTF-8",
    join(mails, "message"),
    diff,
  ];
  const parsed = await withStdin(git, info, join(mails, "0001"));
  if (parsed.code !== 0) return parsed.stderr;
  // An empty commit: git-apply(1) refuses an empty patch.
  if ((await stat(diff)).size === 0) return undefined;
  const applied = await git(["apply", "--cached", "--whitespace=nowarn", "--", diff], {
    indexFile,
  });
  return applied.code === 0 ? undefined : applied.stderr.trim();
}

async function withStdin(git: Git, args: readonly string[], path: string) {
  const handle = await open(path, "r");
  try {
    const call: GitCall = { stdin: handle.fd };
    return await git(args, call);
  } finally {
    await handle.close();
  }
}
