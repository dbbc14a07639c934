import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { findProgram } from "../../process/find-program.ts";
import { type DebianTools } from "./debian-tools.ts";
import { existingImage } from "./existing.ts";
import type { ImageEngine } from "./image-engine.ts";
import { type BaseOf, IMAGE_LABEL } from "./labels.ts";
import { finishRoot, placeNode } from "./root-directory.ts";
import { type Stepper, buildFailure } from "./step.ts";
import type { ImageVersions } from "./versions.ts";

const BOOTSTRAP_MS = 20 * 60_000;
const NPM_MS = 15 * 60_000;
const IMPORT_MS = 15 * 60_000;

/** Everything but the agents, as an image of its own: one more agent then needs no new Debian. */
export const DEBIAN_BASE = "guardloop-base";
/** To be raised when what is done to the root directory changes. */
const MAKING = "1";

export interface DebianBuild {
  readonly engine: ImageEngine;
  readonly versions: ImageVersions;
  /** A directory of this build alone, on a file system that allows devices and programs. Emptied at the end. */
  readonly workDir: string;
  readonly onProgress: (line: string) => void;
}

/**
 * Makes the base image where no registry answers, unless it is there: a minimal Debian by debootstrap and a current Node
 * from npm, imported as one layer. Needs root on Linux.
 */
export async function debianBase(
  steps: Stepper,
  build: DebianBuild,
  tools: DebianTools,
): Promise<Result<BaseOf, Failure>> {
  const inputs = baseInputs(build.versions);
  const present = await existingImage(steps, build.engine, DEBIAN_BASE);
  if (!present.ok) return present;
  if (present.value?.labels[IMAGE_LABEL.baseInputs] === inputs)
    return ok({ name: DEBIAN_BASE, id: present.value.id });
  const root = join(build.workDir, "root");
  try {
    const made = await makeAndImport(steps, { build, tools, root, inputs });
    if (!made.ok) return made;
  } finally {
    await removeTree(root);
  }
  const made = await existingImage(steps, build.engine, DEBIAN_BASE);
  if (!made.ok) return made;
  if (made.value === undefined) return err(buildFailure("its base is not there after the import."));
  // The one before has lost its name; the engine keeps it while something is built on it.
  if (present.value !== undefined)
    await steps.attempt({
      program: build.engine.program,
      args: ["image", "rm", present.value.id],
      deadlineMs: DEADLINES.engineQuickMs,
    });
  return ok({ name: DEBIAN_BASE, id: made.value.id });
}

function baseInputs({ node, npm, debian }: ImageVersions): string {
  const text = JSON.stringify({ making: MAKING, node, npm, debian });
  return createHash("sha256").update(text).digest("hex");
}

interface Making {
  readonly build: DebianBuild;
  readonly tools: DebianTools;
  readonly root: string;
  readonly inputs: string;
}

async function makeAndImport(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { build, root } = making;
  const { versions } = build;
  build.onProgress(`Installing Debian ${versions.debian.suite} with debootstrap (about a minute)`);
  const bootstrapped = await bootstrap(steps, making);
  if (!bootstrapped.ok) return bootstrapped;
  build.onProgress(`Installing Node ${versions.node} from npm`);
  const node = await installNode(steps, making);
  if (!node.ok) return node;
  await finishRoot(root);
  build.onProgress("Importing the image");
  return importRoot(steps, making);
}

async function bootstrap(steps: Stepper, making: Making): Promise<Result<void, Failure>> {
  const { suite, packages } = making.build.versions.debian;
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
  const { versions } = making.build;
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
      `LABEL ${IMAGE_LABEL.baseInputs}=${making.inputs}`,
    ];
    const imported = await steps.must(`\`${build.engine.kind} import\``, {
      program: build.engine.program,
      args: [
        "import",
        ...settings.flatMap((setting) => ["--change", setting]),
        archive,
        DEBIAN_BASE,
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
