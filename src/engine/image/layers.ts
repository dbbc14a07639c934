import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import type { ImageEngine } from "./image-engine.ts";
import type { ImageContents } from "./labels.ts";
import type { Stepper } from "./step.ts";
import { type ImageAgent, agentPackage, sortedAgents } from "./versions.ts";

const NPM_MS = 15 * 60_000;
const BUILD_MS = 30 * 60_000;

export interface LayersBuild {
  readonly engine: ImageEngine;
  readonly name: string;
  /** The image the layers go on, by a name that the engine has. */
  readonly base: string;
  readonly contents: ImageContents;
  readonly labels: Readonly<Record<string, string>>;
  /** Absolute paths of `npm` and `sh` on this machine: the agents are installed here and copied in. */
  readonly tools: { readonly npm: string; readonly sh: string };
  /** A directory of this build alone; emptied at the end. */
  readonly workDir: string;
  readonly onProgress: (line: string) => void;
  /** Further lines for the Dockerfile, before the agents; with them the build gets a network. */
  readonly first?: readonly string[];
  /** Directories of `workDir` whose content is copied to `/` before the agents. */
  readonly copied?: readonly string[];
}

/**
 * Builds an image on another one: a layer for each agent, in one order, so that one more reuses those before it. Equal
 * content is an equal layer to both engines, whenever it was made.
 */
export async function buildLayers(
  steps: Stepper,
  build: LayersBuild,
): Promise<Result<void, Failure>> {
  const context = join(build.workDir, "layers");
  try {
    await mkdir(context, { recursive: true });
    const agents = sortedAgents(build.contents.agents);
    for (const agent of agents) {
      build.onProgress(`Installing ${agent} from npm`);
      const staged = await stageAgent(steps, build, { agent, root: join(context, agent) });
      if (!staged.ok) return staged;
    }
    for (const name of ["guardloop", "workspace"])
      await mkdir(join(context, "points", name), { recursive: true, mode: 0o755 });
    await writeFile(join(context, "Dockerfile"), dockerfile(build, agents));
    return await buildIn(steps, build, context);
  } finally {
    await removeTree(context);
  }
}

async function stageAgent(
  steps: Stepper,
  { contents, tools }: LayersBuild,
  { agent, root }: { readonly agent: ImageAgent; readonly root: string },
): Promise<Result<void, Failure>> {
  await mkdir(root, { recursive: true, mode: 0o755 });
  const script = join(contents.imageDir, "install-agents.sh");
  const done = await steps.must(`Installing ${agent} from npm`, {
    program: tools.sh,
    args: [script, root, agentPackage(contents.versions, agent)],
    deadlineMs: NPM_MS,
  });
  return done.ok ? ok(undefined) : done;
}

function dockerfile(build: LayersBuild, agents: readonly ImageAgent[]): string {
  return [
    `FROM ${build.base}`,
    "USER root",
    ...(build.first ?? []),
    ...[...(build.copied ?? []), ...agents].map((name) => `COPY ${name}/ /`),
    // Mount points; a container runs with a read-only root, so they must be there.
    "COPY --chown=1000:1000 points/ /",
    "ENV LANG=C.UTF-8",
    "WORKDIR /workspace",
    // An entry point would stand before the commands, which are always exact.
    "ENTRYPOINT []",
    'CMD ["sh"]',
    "",
  ].join("\n");
}

async function buildIn(
  steps: Stepper,
  build: LayersBuild,
  context: string,
): Promise<Result<void, Failure>> {
  const network = (build.first ?? []).length === 0 ? ["--network", "none"] : [];
  const built = await steps.must(`\`${build.engine.kind} build\``, {
    program: build.engine.program,
    args: [
      "build",
      "--force-rm",
      "--tag",
      build.name,
      ...network,
      ...Object.entries(build.labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
      // Without a value: the client takes it from its environment, and the engine keeps it out of the image's history.
      ...steps.proxyNames.flatMap((name) => ["--build-arg", name]),
      context,
    ],
    deadlineMs: BUILD_MS,
  });
  return built.ok ? ok(undefined) : built;
}
