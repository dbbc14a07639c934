import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { sweepLocks } from "../../files/lock-file.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { isAbandoned } from "../../files/write-atomic.ts";
import { removeLater } from "../house/remove-later.ts";
import { type RunPaths, runDirectories, runPaths } from "../paths.ts";
import { slotDirectory } from "../container/host-slots.ts";
import { removeSetupDrafts } from "../setup/setup-drafts.ts";
import type { RunServices } from "../services.ts";

/** Directories that a stage or a command makes and removes again; in a record they are what a crash left. */
const PASSING = [
  "quarantine",
  "job",
  "setup",
  "validation",
] as const satisfies readonly (keyof RunPaths)[];

/**
 * Removes what a killed process was at work with in the records of runs that nobody works on: directories that were to
 * go again, halves of files, and its own locks. Nothing of it is the only copy of anything. May be called again.
 *
 * @param isAtWork whether somebody living works on the run, or may still need what it has.
 * @returns a sentence for each run of which a directory was removed.
 */
export async function removeRemains(
  services: Pick<RunServices, "env" | "remover">,
  isAtWork: (runId: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const { env } = services;
  const done: string[] = [];
  for (const directory of [join(env.stateDir, "locks"), slotDirectory(env.stateDir)])
    await sweepLocks(directory, env.hostname);
  await removeSetupDrafts(env);
  for (const name of ["compile-cache", "snapshot-trials", "layers", "house"])
    await removeHalves(join(env.stateDir, name), SHARED);
  for (const runId of await runDirectories(env.stateDir)) {
    const paths = runPaths(env.stateDir, runId);
    // Asked for every run there ever was, so it does not wait for each answer.
    const names = namesIn(paths.root);
    if (!names.some(isRemains) || (await isAtWork(runId))) continue;
    const had = PASSING.some((one) => existsSync(paths[one]));
    await removeLater(
      services,
      PASSING.map((one) => paths[one]),
    );
    await settleArtifacts(paths);
    for (const directory of [paths.root, paths.artifacts, paths.salvage])
      await removeHalves(directory, RECORD);
    await sweepLocks(paths.root, env.hostname);
    if (had) done.push(`Removed what run ${runId} had left half done.`);
  }
  return done;
}

function isRemains(name: string): boolean {
  return /^(quarantine\.git|job|setup|validation|artifacts\.new|busy.*|.*\.tmp)$/.test(name);
}

/** The new artifacts were whole before the old ones went: without old ones, they are the only copy. */
async function settleArtifacts(paths: RunPaths): Promise<void> {
  const fresh = `${paths.artifacts}.new`;
  if (!existsSync(fresh)) return;
  if (existsSync(paths.artifacts)) await removeTree(fresh);
  else await rename(fresh, paths.artifacts);
}

interface Halves {
  readonly isLeft: (name: string) => boolean;
  /** Directories that are looked into. */
  readonly into: RegExp;
}

/** Of a run that nobody works on. */
const RECORD: Halves = { isLeft: (name) => name.endsWith(".tmp"), into: /^patches$/ };
/** Of all runs: others may be writing there now. Of layers the slots and their users, not what a slot holds. */
const SHARED: Halves = {
  isLeft: isAbandoned,
  into: /^(?:[0-9a-f]{12}|stores|trees|let-in|\d{1,4}|users)$/,
};

/** Left by `writeAtomic`; the file of the right name is whole, or was never there. */
async function removeHalves(directory: string, halves: Halves): Promise<void> {
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    if (halves.isLeft(name)) await rm(path, { force: true });
    else if (halves.into.test(name)) await removeHalves(path, halves);
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
