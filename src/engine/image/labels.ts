import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { IMAGE_AGENTS, type ImageAgent, type ImageVersions, sortedAgents } from "./versions.ts";

export const IMAGE_LABEL = {
  version: "guardloop.image.version",
  inputs: "guardloop.image.inputs",
  source: "guardloop.image.source",
  agents: "guardloop.image.agents",
  /** `codex=0.171.0,claude=2.1.332`: what was installed, exactly. */
  versions: "guardloop.image.versions",
  /** `NAME@ID` of the image that it was built on. */
  base: "guardloop.image.base",
  /**
   * What the Debian base was made of. Not `inputs`: the half-built images on top of it have its labels and no name yet, and
   * would look like old images of ours to a clean-up.
   */
  baseInputs: "guardloop.base.inputs",
} as const;

/** `registry`: built on the base image of a registry. `debian`: made from Debian packages. `image`: on an image of the user's. */
export type ImageSource = "registry" | "debian" | "image";

/** An image that another one is built on. */
export interface BaseOf {
  readonly name: string;
  readonly id: string;
}

export interface ImageContents {
  readonly imageDir: string;
  readonly versions: ImageVersions;
  readonly agents: readonly ImageAgent[];
  /** The user's own image; undefined for guardloop's. */
  readonly from: BaseOf | undefined;
}

/**
 * SHA-256 over every file of the image directory (names and bytes), the agents, and the user's image where it is built on
 * one: two images with the same value need no rebuild. Where guardloop's own base came from is not part of it.
 */
export async function inputsDigest(contents: ImageContents): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(contents.imageDir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  for (const name of names.toSorted()) {
    const bytes = await readFile(join(contents.imageDir, name));
    hash.update(`${name}\0${bytes.length}\0`).update(bytes);
  }
  hash.update(`agents\0${agentsLabel(contents.agents)}`);
  if (contents.from !== undefined) hash.update(`\0from\0${contents.from.id}`);
  return hash.digest("hex");
}

/** The labels of a new image. */
export async function imageLabels(
  contents: ImageContents,
  source: ImageSource,
  base: BaseOf,
): Promise<Readonly<Record<string, string>>> {
  return {
    [IMAGE_LABEL.version]: contents.versions.imageVersion,
    [IMAGE_LABEL.inputs]: await inputsDigest(contents),
    [IMAGE_LABEL.source]: source,
    [IMAGE_LABEL.agents]: agentsLabel(contents.agents),
    [IMAGE_LABEL.versions]: versionsLabel(contents),
    [IMAGE_LABEL.base]: [base.name, base.id].filter((part) => part !== "").join("@"),
  };
}

/** `codex,claude`, or `none`. */
export function agentsLabel(agents: readonly ImageAgent[]): string {
  return agents.length === 0 ? "none" : sortedAgents(agents).join(",");
}

function versionsLabel({ agents, versions }: ImageContents): string {
  const pinned = sortedAgents(agents).map((name) => `${name}=${versions.agents[name].version}`);
  return pinned.join(",") || "none";
}

/** The agents that an image says it holds; names that are not known are left out. */
export function agentsOfLabel(label: string | undefined): readonly ImageAgent[] {
  const names = (label ?? "").split(",");
  return IMAGE_AGENTS.filter((name) => names.includes(name));
}
