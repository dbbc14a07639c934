import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Git, gitIn } from "./git.ts";
import type { Surroundings } from "./preflight.ts";

/** A scratch directory of the guest, outside of everything the agent could write while it ran. */
export interface Scratch {
  readonly directory: string;
  readonly remove: () => void;
}

export function makeScratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), "guardloop-export-"));
  return {
    directory,
    remove() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface OwnRepository {
  readonly git: Git;
  readonly gitDir: string;
}

/** Of gitrepository-layout(5); what Git does not find there it makes. */
const DIRECTORIES = ["objects/info", "objects/pack", "refs/heads", "info"];

/**
 * Makes a bare repository of the guest's own: no template, no hooks, no remote; it reads the objects of the named
 * stores and writes only its own. Written by hand, which spares a start of Git.
 *
 * @param options.base decides the hash function: 40 digits SHA-1, 64 digits SHA-256.
 */
export function makeRepository(
  gitDir: string,
  surroundings: Surroundings,
  options: { readonly base: string; readonly objectStores: readonly string[] },
): OwnRepository {
  for (const name of DIRECTORIES) mkdirSync(join(gitDir, name), { recursive: true });
  const files: Readonly<Record<string, string>> = {
    HEAD: "ref: refs/heads/main\n",
    config: options.base.length === 64 ? SHA256_CONFIG : SHA1_CONFIG,
    "objects/info/alternates": options.objectStores.map((store) => `${store}\n`).join(""),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(gitDir, name), text);
  return { git: gitIn(gitDir, surroundings.git, surroundings.path), gitDir };
}

const SHA1_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
const SHA256_CONFIG =
  "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n";
