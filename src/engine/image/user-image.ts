import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, failure } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { findProgram } from "../../process/find-program.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { provideBase } from "./base-image.ts";
import { existingImage } from "./existing.ts";
import { type ImageEngine, baseName } from "./image-engine.ts";
import type { BaseOf, ImageContents } from "./labels.ts";
import { type LayersBuild, buildLayers } from "./layers.ts";
import { placeNode } from "./root-directory.ts";
import { type Stepper, buildFailure } from "./step.ts";

const LOOK_MS = 2 * 60_000;
const NPM_MS = 15 * 60_000;
const OLDEST_NODE = 18;
/** What the Gemini CLI needs. */
const OLDEST_NODE_FOR_GEMINI = 20;

/** Prints what the image has, `name=value` a line. Run as root and without a network. */
const LOOK = `
command -v node >/dev/null && echo "node=$(node --version)"
command -v git >/dev/null && echo "git=$(git --version)"
command -v apt-get >/dev/null && echo apt=yes
ls /lib/ld-musl-* >/dev/null 2>&1 && echo musl=yes
true
`;

const GIT_FROM_APT =
  "RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*";

/** The user's image as the engine has it; pulled when it has it not, and only then. */
export async function findUserImage(
  steps: Stepper,
  engine: ImageEngine,
  name: string,
): Promise<Result<BaseOf, Failure>> {
  const present = await existingImage(steps, engine, name);
  if (!present.ok) return present;
  if (present.value !== undefined) return ok({ name, id: present.value.id });
  const pulled = await provideBase(steps, engine, name);
  if (!pulled.ok) return pulled;
  if (pulled.value.kind === "unavailable")
    return err(buildFailure(`the image ${name} cannot be had: ${pulled.value.why}`));
  const there = await existingImage(steps, engine, baseName(engine, name));
  if (!there.ok) return there;
  if (there.value === undefined)
    return err(buildFailure(`the image ${name} is not there after the pull.`));
  return ok({ name, id: there.value.id });
}

/** Adds to the user's image what guardloop needs of it (Git, Node) and the agents. */
export async function buildOnUserImage(
  steps: Stepper,
  build: Omit<LayersBuild, "base" | "tools" | "first" | "copied"> & { readonly from: BaseOf },
): Promise<Result<void, Failure>> {
  const { from, engine, contents } = build;
  const found = await look(steps, engine, from);
  if (!found.ok) return found;
  const missing = whatIsMissing(found.value, from, contents);
  if (!missing.ok) return missing;
  const npm = findProgram("npm", steps.path);
  const sh = findProgram("sh", steps.path);
  if (npm === undefined || sh === undefined)
    return err(
      failure("tool-missing", "The agent image was not built: npm not found on PATH.", {
        cure: "Install Node with npm, then run `guardloop image build` again.",
      }),
    );
  const copied = missing.value.node ? ["layers-node"] : [];
  if (missing.value.node) {
    build.onProgress(`Installing Node ${contents.versions.node} from npm: ${from.name} has none`);
    const staged = await stageNode(steps, build, npm);
    if (!staged.ok) return staged;
  }
  const first = missing.value.git ? [GIT_FROM_APT] : [];
  if (missing.value.git)
    build.onProgress(`Installing Git with apt-get in the image: ${from.name} has none`);
  return buildLayers(steps, { ...build, base: from.name, tools: { npm, sh }, first, copied });
}

async function look(
  steps: Stepper,
  engine: ImageEngine,
  { name, id }: BaseOf,
): Promise<Result<ReadonlyMap<string, string>, Failure>> {
  const looked = await steps.attempt({
    program: engine.program,
    args: ["run", "--rm", "--network", "none", "--user", "0", "--entrypoint", "sh", id, "-c", LOOK],
    deadlineMs: LOOK_MS,
    output: "kept",
  });
  if (!looked.ok) return looked;
  if (looked.value.code !== 0)
    return err(buildFailure(`${name} cannot be looked at: it has no shell, or did not start.`));
  const lines = looked.value.stdout.toString("utf8").split("\n").slice(0, 20);
  return ok(
    new Map(lines.map((line) => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)])),
  );
}

/** What is to be added; fails in a sentence where it cannot be. */
function whatIsMissing(
  found: ReadonlyMap<string, string>,
  { name }: BaseOf,
  { agents }: ImageContents,
): Result<{ readonly node: boolean; readonly git: boolean }, Failure> {
  const unsuitable = (why: string): Result<never, Failure> =>
    err(failure("image-unsuitable", `The agent image was not built: ${name} ${why}.`));
  const git = !found.has("git");
  if (git && !found.has("apt"))
    return unsuitable("has neither Git nor apt-get to install it: add Git to it");
  if (found.has("musl") && agents.length > 0)
    return unsuitable(
      "is made with musl, as Alpine is, and the agents need the GNU C library: take an image of Debian's kind, or --agent none",
    );
  const node = /^v(\d+)\./.exec(found.get("node") ?? "")?.[1];
  if (node === undefined) {
    if (found.has("musl")) return unsuitable(`has no Node: add Node ${OLDEST_NODE} or newer to it`);
    return ok({ node: true, git });
  }
  const oldest = agents.includes("gemini") ? OLDEST_NODE_FOR_GEMINI : OLDEST_NODE;
  if (Number(node) < oldest)
    return unsuitable(
      `has Node ${node}, and ${oldest} or newer is needed${oldest === OLDEST_NODE_FOR_GEMINI ? " for gemini: name the others with --agent" : ""}`,
    );
  return ok({ node: false, git });
}

async function stageNode(
  steps: Stepper,
  { contents, workDir }: Pick<LayersBuild, "contents" | "workDir">,
  npm: string,
): Promise<Result<void, Failure>> {
  const scratch = join(workDir, "node");
  const nodePackage = `node-linux-${process.arch}`;
  try {
    const done = await steps.must("Installing Node from npm", {
      program: npm,
      args: [
        "install",
        "--global",
        `--prefix=${scratch}`,
        "--ignore-scripts",
        "--force",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--loglevel=error",
        `${nodePackage}@${contents.versions.node}`,
      ],
      deadlineMs: NPM_MS,
    });
    if (!done.ok) return done;
    await placeNode(scratch, nodePackage);
    const target = join(workDir, "layers", "layers-node", "usr", "local", "bin");
    await mkdir(target, { recursive: true, mode: 0o755 });
    await copyFile(join(scratch, "bin", "node"), join(target, "node"));
    return ok(undefined);
  } finally {
    await removeTree(scratch);
  }
}
