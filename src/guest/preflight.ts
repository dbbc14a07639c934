import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { GuestJob } from "../core/artifacts.ts";
import { type Result, err, ok } from "../core/result.ts";
import { findProgram } from "./find-program.ts";
import { kindOf, readBounded } from "./read-file.ts";

const PROMPT_BYTES = 16 * 1024 * 1024;
const OLDEST_NODE = 18;

/** What the guest found in its surroundings before anything was started. */
export interface Surroundings {
  /** Absolute path of git. */
  readonly git: string;
  readonly path: string;
}

/**
 * Checks that everything the job needs is there. Changes nothing.
 *
 * @returns what was found, or one sentence that says what is missing and what to do.
 */
export function preflight(
  job: GuestJob,
  env: Readonly<Record<string, string | undefined>>,
): Result<Surroundings, string> {
  const major = Number(process.versions.node.split(".")[0]);
  if (!(major >= OLDEST_NODE))
    return err(
      `Node ${process.versions.node} is too old: use an image with Node ${OLDEST_NODE} or newer.`,
    );
  const path = env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  const git = findProgram("git", path);
  if (git === undefined) return err(`git is not on PATH (${path}): use an image that has Git.`);
  const missing = missingDirectory(job);
  if (missing !== undefined) return err(missing);
  if (job.mode === "run") {
    const wrong = wrongPrompt(job) ?? notEmpty(job.paths.artifacts);
    if (wrong !== undefined) return err(wrong);
    if (env.HOME === undefined || kindOf(env.HOME) !== "directory")
      return err(`HOME (${env.HOME ?? "not set"}) is not a directory: set it to one.`);
  }
  return ok({ git, path });
}

function missingDirectory(job: GuestJob): string | undefined {
  const wanted = {
    "the workspace": job.paths.workspace,
    "the artifacts directory": job.paths.artifacts,
    "the base's object store": join(job.paths.baseStore, "objects"),
  };
  for (const [name, path] of Object.entries(wanted))
    if (kindOf(path) !== "directory") return `${name} ${path} is not a directory: mount it.`;
  return undefined;
}

function wrongPrompt(job: GuestJob): string | undefined {
  const prompt = readBounded(job.paths.prompt, PROMPT_BYTES);
  if (!prompt.ok) return `the prompt ${job.paths.prompt} ${prompt.error}: write one.`;
  const isBlank = prompt.value.toString("utf8").trim() === "";
  return isBlank ? `the prompt ${job.paths.prompt} is empty: write one.` : undefined;
}

function notEmpty(artifacts: string): string | undefined {
  const names = readdirSync(artifacts);
  if (names.length === 0) return undefined;
  return `the artifacts directory ${artifacts} is not empty (${names.slice(0, 3).join(", ")}): give every run its own.`;
}
