import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { gitOutput, gitText, sealedGit } from "../git/git.ts";
import { stateDirectoryIn } from "./directory.ts";

/** Where a selftest happens: everything lies below one directory of its own. */
export interface Place {
  readonly root: string;
  /** guardloop's state directory for these runs. */
  readonly stateDir: string;
  /** The principal checkout of these runs. */
  readonly repository: string;
  /** A text that must not get anywhere: it stands in `secretFile`, in `otherRepository` and in `variable`. */
  readonly canary: string;
  /** A file of the host's beside the repository. */
  readonly secretFile: string;
  /** Another repository of the host's, and its newest commit. */
  readonly otherRepository: string;
  readonly otherCommit: string;
  /** Name of a variable in the environment of guardloop and of the engine's client. */
  readonly variable: string;
  /** A file that a program planted by an agent would make on the host. */
  readonly marker: string;
  /** In the arguments of a process that an agent leaves behind. */
  readonly processMark: string;
}

export interface PlaceSetup {
  readonly env: HostEnvironment;
  /** Absolute path of git. */
  readonly gitProgram: string;
  /** The bundled probe, which becomes a file of the repository. */
  readonly probe: string;
}

export const PROBE_FILE = "probe.mjs";
export const TASK = "T1";

const PLAN = `# Plan

## ${TASK} — Try the boundary

Status: ready

Completion signal:
- work.txt exists

## T2 — A task that nobody does

Status: ready
`;

const IDENTITY = {
  GIT_AUTHOR_NAME: "guardloop selftest",
  GIT_AUTHOR_EMAIL: "selftest@guardloop.invalid",
  GIT_COMMITTER_NAME: "guardloop selftest",
  GIT_COMMITTER_EMAIL: "selftest@guardloop.invalid",
} as const;

/** Fills an empty directory of our own. */
export async function makePlace(root: string, setup: PlaceSetup): Promise<Result<Place, Failure>> {
  const canary = `canary-${randomBytes(12).toString("hex")}`;
  const secretFile = join(root, "secret.txt");
  await writeFile(secretFile, `${canary}\n`, { mode: 0o644 });
  const repository = join(root, "repository");
  const made = await makeRepository(repository, setup, {
    "docs/TASKS.md": PLAN,
    "src/app.txt": "hello\n",
    [PROBE_FILE]: setup.probe,
  });
  if (!made.ok) return made;
  const otherRepository = join(root, "other");
  const other = await makeRepository(otherRepository, setup, { "secret.txt": `${canary}\n` });
  if (!other.ok) return other;
  return ok({
    root,
    stateDir: stateDirectoryIn(root),
    repository,
    canary,
    secretFile,
    otherRepository,
    otherCommit: other.value,
    variable: "GUARDLOOP_SELFTEST_CANARY",
    marker: join(root, "marker"),
    processMark: `left-behind-${randomBytes(6).toString("hex")}`,
  });
}

/** A repository with one commit, made without anybody's Git configuration, templates or hooks. */
async function makeRepository(
  directory: string,
  { env, gitProgram }: PlaceSetup,
  files: Readonly<Record<string, string>>,
): Promise<Result<string, Failure>> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  const git = sealedGit(gitProgram, env, join(directory, ".git"));
  const at = { cwd: directory };
  const inTree = { ...at, workTree: directory, identity: IDENTITY };
  const steps: readonly (readonly [readonly string[], object])[] = [
    [["init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main"], at],
    [["add", "--all", "--force"], inTree],
    [["commit", "--quiet", "--message=Start"], inTree],
  ];
  for (const [args, options] of steps) {
    const done = await gitOutput(git, args, options);
    if (!done.ok) return done;
  }
  return gitText(git, ["rev-parse", "HEAD"], at);
}
