import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { buildDockerfile } from "../engine/image/build-dockerfile.ts";
import { type Devcontainer, readDevcontainer } from "../engine/image/devcontainer.ts";
import type { ImageEngine } from "../engine/image/image-engine.ts";
import { removeTree } from "../files/remove-tree.ts";
import { type Head, type Principal, readHead } from "../git/principal.ts";
import { readFileAt } from "../git/read-files.ts";
import { type BaseTree, writeTree } from "../git/base-tree.ts";
import { type Context, gitProgram, principalOf } from "./context.ts";

/** Where a repository keeps it, the usual place first. */
const PLACES = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/** Whether `--from` names the repository's devcontainer and not an image. */
export function namesDevcontainer(from: string): boolean {
  return from === "devcontainer" || from.endsWith("devcontainer.json");
}

/**
 * The image of the repository's devcontainer, as the principal HEAD has it: the one it names, or one that its Dockerfile is
 * built to. The user asked for it by name, so nothing more is asked.
 *
 * @returns the image's name.
 */
export async function devcontainerImage(
  context: Context,
  engine: ImageEngine,
  from: string,
): Promise<Result<string, Failure>> {
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const head = await readHead(principal.value);
  if (!head.ok) return head;
  const found = await findDevcontainer(principal.value, head.value, from);
  if (!found.ok) return found;
  const { path, wanted } = found.value;
  const say = (line: string): void => context.output.progress(line);
  if (wanted.ignored.length > 0)
    say(
      `${path}: ${wanted.ignored.join(", ")} are not followed; what they install is not in the image`,
    );
  if (wanted.kind === "image") {
    say(`${path} names the image ${wanted.image}`);
    return ok(wanted.image);
  }
  say(
    `Building ${wanted.dockerfile} of the repository: what it runs has a network, and runs as root in the engine's build`,
  );
  return buildAt(context, engine, { principal: principal.value, head: head.value, wanted });
}

async function findDevcontainer(
  principal: Principal,
  head: Head,
  from: string,
): Promise<Result<{ readonly path: string; readonly wanted: Devcontainer }, Failure>> {
  const places = from === "devcontainer" ? PLACES : [from.replace(/^\.\//, "")];
  for (const path of places) {
    const text = await readFileAt(principal.git, head.commit, path);
    if (!text.ok) return text;
    if (text.value === undefined) continue;
    const wanted = readDevcontainer(text.value, path);
    if (wanted.ok) return ok({ path, wanted: wanted.value });
    return fail("image-unsuitable", `${path} ${wanted.error}.`, {
      cure: "Correct it and commit, or name an image with --from IMAGE.",
    });
  }
  return fail(
    "usage",
    `The last commit of ${principal.topLevel} has no ${places.join(" and no ")}.`,
    {
      cure: "Commit one, or name an image with --from IMAGE.",
    },
  );
}

async function buildAt(
  context: Context,
  engine: ImageEngine,
  at: {
    readonly principal: Principal;
    readonly head: Head;
    readonly wanted: Extract<Devcontainer, { kind: "dockerfile" }>;
  },
): Promise<Result<string, Failure>> {
  const git = gitProgram(context);
  if (!git.ok) return git;
  const { env } = context;
  const parent = join(env.stateDir, "image-build");
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const workDir = await mkdtemp(join(parent, "devcontainer-"));
  try {
    const filesDir = join(workDir, "files");
    const tree: BaseTree = {
      program: git.value,
      env,
      files: filesDir,
      index: join(workDir, "index"),
      gitDir: join(workDir, "tree.git"),
      objectsDir: join(at.principal.commonDir, "objects"),
      owner: "as-written",
    };
    const written = await writeTree(tree, at.head.commit);
    if (!written.ok) return written;
    const name = `guardloop-devcontainer-${at.principal.repositoryId}`;
    const build = { engine, env, name, filesDir, workDir, signal: context.interrupt };
    const built = await buildDockerfile(at.wanted, build);
    return built.ok ? ok(name) : built;
  } finally {
    await removeTree(workDir);
  }
}
