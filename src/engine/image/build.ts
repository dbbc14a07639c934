import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { agentsOrDefault } from "./agent-choice.ts";
import { provideBase } from "./base-image.ts";
import { debianBase } from "./debian-image.ts";
import { debianTools } from "./debian-tools.ts";
import { type ExistingImage, existingImage } from "./existing.ts";
import {
  type BaseOf,
  type ImageContents,
  type ImageSource,
  IMAGE_LABEL,
  agentsLabel,
  imageLabels,
} from "./labels.ts";
import { type ImageEngine, baseName } from "./image-engine.ts";
import { buildLayers } from "./layers.ts";
import { buildOnBase } from "./registry-image.ts";
import { type Stepper, buildFailure, stepper } from "./step.ts";
import { upToDate } from "./up-to-date.ts";
import { buildOnUserImage, findUserImage } from "./user-image.ts";
import { type ImageAgent, readVersions } from "./versions.ts";

export interface BuildImageOptions {
  /** The image's name, for example `guardloop-agent`. */
  readonly name: string;
  readonly engine: ImageEngine;
  readonly env: HostEnvironment;
  /** `default`: those of a current image that is there; else all, or none with a note when npm does not answer. */
  readonly agents: readonly ImageAgent[] | "default";
  readonly source: "auto" | "registry" | "debian";
  /** An image of the user's that is built on; undefined for guardloop's own base, wherever that comes from. */
  readonly from?: string;
  /** `always`: build also when a current image is there. */
  readonly rebuild: "when-outdated" | "always";
  /** One sentence at the start of every step. */
  readonly onProgress: (line: string) => void;
  /** Every line that the programs print, for a log. */
  readonly onDetail?: (line: string) => void;
  /** The package's image directory. */
  readonly imageDir: string;
  /** Where a directory of about 3 GB may be made for the time of the build; never below a repository. */
  readonly workDir: string;
  readonly signal?: AbortSignal;
}

export interface BuiltImage {
  readonly id: string;
  readonly source: ImageSource;
  readonly labels: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  readonly outcome: "built" | "up-to-date";
}

/**
 * Builds the agent image, from a registry's base image or from Debian packages, unless a current one is there.
 * May be called again after any ending: the name moves to a new image only when that is complete.
 */
export async function buildImage(options: BuildImageOptions): Promise<Result<BuiltImage, Failure>> {
  await mkdir(options.workDir, { recursive: true, mode: 0o700 });
  const workDir = await mkdtemp(join(options.workDir, "image-"));
  try {
    return await buildIn(workDir, options);
  } finally {
    await removeTree(workDir);
  }
}

async function buildIn(
  workDir: string,
  options: BuildImageOptions,
): Promise<Result<BuiltImage, Failure>> {
  const { env, signal, imageDir } = options;
  const steps = stepper({ env, workDir, signal, onDetail: options.onDetail ?? (() => {}) });
  const present = await existingImage(steps, options.engine, options.name);
  if (!present.ok) return present;
  const versions = await readVersions(imageDir);

  const from = await fromOf(steps, options);
  if (!from.ok) return from;
  const wanted = { ...options, versions, from: from.value };
  if (present.value !== undefined && options.rebuild === "when-outdated") {
    const kept = await upToDate(present.value, wanted);
    if (kept !== undefined) {
      options.onProgress(`The image ${options.name} is up to date (from ${kept.source})`);
      const { id, labels, sizeBytes, source } = kept;
      return ok({ id, labels, sizeBytes, source, outcome: "up-to-date" });
    }
  }
  const agents = await agentsOrDefault(steps, wanted);
  if (!agents.ok) return agents;
  const contents: ImageContents = { imageDir, versions, agents: agents.value, from: from.value };
  const built = await build(steps, { options, workDir, contents });
  if (built.ok)
    await removeReplaced(steps, options.engine, { before: present.value, after: built.value });
  return built;
}

async function fromOf(
  steps: Stepper,
  { from, engine }: BuildImageOptions,
): Promise<Result<BaseOf | undefined, Failure>> {
  return from === undefined ? ok(undefined) : findUserImage(steps, engine, from);
}

/** The image that lost its name to the new one, if it is ours. The engine refuses while a container uses it: then it stays. */
async function removeReplaced(
  steps: Stepper,
  engine: ImageEngine,
  images: { readonly before: ExistingImage | undefined; readonly after: BuiltImage },
): Promise<void> {
  const { before, after } = images;
  if (before === undefined || before.id === after.id) return;
  if (before.labels[IMAGE_LABEL.inputs] === undefined) return;
  // A name that the user gave it keeps it: by its id it would be removed with its last name.
  const still = await existingImage(steps, engine, before.id);
  if (!still.ok || still.value === undefined || still.value.tags.length > 0) return;
  await steps.attempt({
    program: engine.program,
    args: ["image", "rm", before.id],
    deadlineMs: DEADLINES.engineQuickMs,
  });
}

interface Building {
  readonly options: BuildImageOptions;
  readonly workDir: string;
  readonly contents: ImageContents;
}

async function build(steps: Stepper, building: Building): Promise<Result<BuiltImage, Failure>> {
  const { options, contents } = building;
  const source = await chooseSource(steps, building);
  if (!source.ok) return source;
  const agents = agentsLabel(contents.agents);
  options.onProgress(
    `Building ${options.name} in ${options.engine.kind} from ${describe(source.value, contents)}, agents: ${agents}`,
  );
  const built = await buildFrom(steps, source.value, building);
  if (!built.ok) return built;
  const image = await existingImage(steps, options.engine, options.name);
  if (!image.ok) return image;
  if (image.value === undefined) return err(buildFailure("it is not there after the build."));
  return ok(finished(image.value, source.value));
}

async function buildFrom(
  steps: Stepper,
  source: ImageSource,
  { options, workDir, contents }: Building,
): Promise<Result<unknown, Failure>> {
  const { engine, name, onProgress } = options;
  const common = { engine, name, contents, workDir, onProgress };
  const labelsOn = (base: BaseOf) => imageLabels(contents, source, base);
  if (contents.from !== undefined) {
    const { from } = contents;
    return buildOnUserImage(steps, { ...common, from, labels: await labelsOn(from) });
  }
  if (source === "registry") {
    const base = await existingImage(steps, engine, baseName(engine, contents.versions.base));
    if (!base.ok) return base;
    const labels = await labelsOn({ name: contents.versions.base, id: base.value?.id ?? "" });
    return buildOnBase(steps, { ...common, labels });
  }
  const tools = await debianTools(steps, onProgress);
  if (!tools.ok) return tools;
  const { versions } = contents;
  const base = await debianBase(steps, { engine, versions, workDir, onProgress }, tools.value);
  if (!base.ok) return base;
  const labels = await labelsOn(base.value);
  return buildLayers(steps, { ...common, base: base.value.name, tools: tools.value, labels });
}

async function chooseSource(
  steps: Stepper,
  { options, contents }: Building,
): Promise<Result<ImageSource, Failure>> {
  if (contents.from !== undefined) return ok("image");
  if (options.source === "debian") return ok("debian");
  const { base } = contents.versions;
  options.onProgress(`Asking for the base image ${base}`);
  const found = await provideBase(steps, options.engine, base);
  if (!found.ok) return found;
  if (found.value.kind === "available") return ok("registry");
  if (options.source === "registry") {
    return err(buildFailure(`the base image ${base} cannot be had: ${found.value.why}`));
  }
  options.onProgress(
    `No image registry answers (${found.value.why}); taking Debian packages instead`,
  );
  return ok("debian");
}

function describe(source: ImageSource, contents: ImageContents): string {
  const { base, debian } = contents.versions;
  if (contents.from !== undefined) return contents.from.name;
  return source === "registry" ? base : `Debian ${debian.suite} packages`;
}

function finished({ id, labels, sizeBytes }: ExistingImage, source: ImageSource): BuiltImage {
  return { id, labels, sizeBytes, source, outcome: "built" };
}
