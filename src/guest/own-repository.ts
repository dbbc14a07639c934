import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Git, gitIn, must } from "./git.ts";
import type { Surroundings } from "./preflight.ts";

/** A scratch directory of the guest, outside of everything the agent could write while it ran. */
export interface Scratch {
  readonly directory: string;
  readonly remove: () => Promise<void>;
}

export async function makeScratch(): Promise<Scratch> {
  const directory = await mkdtemp(join(tmpdir(), "guardloop-export-"));
  return {
    directory,
    async remove() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface OwnRepository {
  readonly git: Git;
  readonly gitDir: string;
}

/**
 * Makes a bare repository of the guest's own: no template, no hooks, no remote; it reads the objects of the named
 * stores and writes only its own.
 *
 * @param options.base decides the hash function: 40 digits SHA-1, 64 digits SHA-256.
 */
export async function makeRepository(
  gitDir: string,
  surroundings: Surroundings,
  options: { readonly base: string; readonly objectStores: readonly string[] },
): Promise<OwnRepository> {
  const git = gitIn(gitDir, surroundings.git, surroundings.path);
  const format = options.base.length === 64 ? ["--object-format=sha256"] : [];
  const cwd = tmpdir();
  await must(git, ["init", "--quiet", "--bare", "--template=", ...format, gitDir], { cwd });
  const alternates = join(gitDir, "objects", "info", "alternates");
  await writeFile(alternates, options.objectStores.map((store) => `${store}\n`).join(""));
  return { git, gitDir };
}
