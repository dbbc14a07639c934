import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { findProgram } from "../../process/find-program.ts";
import { type DebianTools, debianTools } from "./debian-tools.ts";
import type { RegistryBuild } from "./registry-image.ts";
import { finishRoot, placeNode } from "./root-directory.ts";
import type { Stepper } from "./step.ts";
import { agentPackages } from "./versions.ts";

const BOOTSTRAP_MS = 20 * 60_000;
const NPM_MS = 15 * 60_000;
const IMPORT_MS = 15 * 60_000;

export interface DebianBuild extends RegistryBuild {
  /** A directory of this build alone, on a file system that allows devices and programs. Emptied at the end. */
  readonly workDir: string;
  readonly onProgress: (line: string) => void;
}

/**
 * Makes the image where no registry answers: a minimal Debian by debootstrap, a current Node and the agents from
 * npm, imported as one layer. Needs root on Linux.
 */
export async function buildFromDebian(
  steps: Stepper,
  build: DebianBuild,
): Promise<Result<void, Failure>> {
  const tools = await debianTools(steps, build.onProgress);
  if (!tools.ok) return tools;
  const root = join(build.workDir, "root");
  try {
    return await makeAndImport(steps, { build, tools: tools.value, root });
  } finally {
    await removeTree(root);
  }
}

interface Making {
  readonly build: DebianBuild;
  readonly tools: DebianTools;
  readonly root: string;
}

async function makeAndImport(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { build, root } = making;
  const { versions, agents } = build.contents;
  build.onProgress(`Installing Debian ${versions.debian.suite} with debootstrap (about a minute)`);
  const bootstrapped = await bootstrap(steps, making);
  if (!bootstrapped.ok) return bootstrapped;
  build.onProgress(
    `Installing Node ${versions.node} and ${agents.join(", ") || "no agent"} from npm`,
  );
  const node = await installNode(steps, making);
  if (!node.ok) return node;
  const agentsInstalled = await installAgents(steps, making);
  if (!agentsInstalled.ok) return agentsInstalled;
  await finishRoot(root);
  build.onProgress("Importing the image");
  return importRoot(steps, making);
}

async function bootstrap(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { suite, packages } = making.build.contents.versions.debian;
  const command = [
    making.tools.debootstrap,
    "--variant=minbase",
    `--include=${packages.join(",")}`,
    suite,
    making.root,
  ];
  const { program, args } = await inOwnMounts(steps, command);
  const done = await steps.must("debootstrap", { program, args, deadlineMs: BOOTSTRAP_MS });
  return done.ok ? ok(undefined) : done;
}

/**
 * debootstrap mounts /proc and devices into the directory. In a mount namespace of its own they end with it, however
 * it ends, so that removing the directory can never reach through a mount that was left.
 */
async function inOwnMounts(steps: Stepper, command: readonly string[]) {
  const [debootstrap = "", ...plain] = command;
  const unshare = findProgram("unshare", steps.path);
  if (unshare === undefined) return { program: debootstrap, args: plain };
  const args = ["--mount", "--propagation", "private", "--"];
  const probe = {
    program: unshare,
    args: [...args, "true"],
    deadlineMs: 10_000,
    output: "kept",
  } as const;
  const works = await steps.attempt(probe);
  if (!works.ok || works.value.code !== 0) return { program: debootstrap, args: plain };
  return { program: unshare, args: [...args, ...command] };
}

async function installNode(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { versions } = making.build.contents;
  const nodePackage = `node-linux-${process.arch}`;
  const done = await steps.must("Installing Node from npm", {
    program: making.tools.npm,
    args: [
      "install",
      "--global",
      `--prefix=${localOf(making.root)}`,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--no-progress",
      "--loglevel=error",
      `${nodePackage}@${versions.node}`,
      `npm@${versions.npm}`,
    ],
    deadlineMs: NPM_MS,
  });
  if (!done.ok) return done;
  await placeNode(localOf(making.root), nodePackage);
  return ok(undefined);
}

async function installAgents(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { contents } = making.build;
  const script = join(contents.imageDir, "install-agents.sh");
  const packages = agentPackages(contents.versions, contents.agents);
  const done = await steps.must("Installing the agents from npm", {
    program: making.tools.sh,
    args: [script, localOf(making.root), ...packages],
    deadlineMs: NPM_MS,
  });
  return done.ok ? ok(undefined) : done;
}

async function importRoot(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { build } = making;
  const archive = join(build.workDir, "root.tar");
  try {
    const packed = await steps.must("Packing the image", {
      program: making.tools.tar,
      args: ["--numeric-owner", "-C", making.root, "-cf", archive, "."],
      deadlineMs: IMPORT_MS,
    });
    if (!packed.ok) return packed;
    const settings = [
      "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "ENV LANG=C.UTF-8",
      "WORKDIR /workspace",
      'CMD ["bash"]',
      ...Object.entries(build.labels).map(([name, value]) => `LABEL ${name}=${value}`),
    ];
    const imported = await steps.must(`\`${build.engine.kind} import\``, {
      program: build.engine.program,
      args: [
        "import",
        ...settings.flatMap((setting) => ["--change", setting]),
        archive,
        build.name,
      ],
      deadlineMs: IMPORT_MS,
    });
    return imported.ok ? ok(undefined) : imported;
  } finally {
    await rm(archive, { force: true });
  }
}

function localOf(root: string): string {
  return join(root, "usr", "local");
}
