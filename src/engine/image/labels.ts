import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ImageAgent, type ImageVersions, sortedAgents } from "./versions.ts";

export const IMAGE_LABEL = {
  version: "guardloop.image.version",
  inputs: "guardloop.image.inputs",
  source: "guardloop.image.source",
  agents: "guardloop.image.agents",
} as const;

/** `registry`: built on the base image of a registry. `debian`: made from Debian packages. */
export type ImageSource = "registry" | "debian";

export interface ImageContents {
  readonly imageDir: string;
  readonly versions: ImageVersions;
  readonly agents: readonly ImageAgent[];
}

/**
 * SHA-256 over every file of the image directory (names and bytes) and the agents: two images with the same value
 * need no rebuild. Where the base came from is not part of it.
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
  return hash.digest("hex");
}

/** The labels of a new image. */
export async function imageLabels(
  contents: ImageContents,
  source: ImageSource,
): Promise<Readonly<Record<string, string>>> {
  return {
    [IMAGE_LABEL.version]: contents.versions.imageVersion,
    [IMAGE_LABEL.inputs]: await inputsDigest(contents),
    [IMAGE_LABEL.source]: source,
    [IMAGE_LABEL.agents]: agentsLabel(contents.agents),
  };
}

/** `codex,claude`, or `none`. */
export function agentsLabel(agents: readonly ImageAgent[]): string {
  return agents.length === 0 ? "none" : sortedAgents(agents).join(",");
}

/** The agents that an image says it holds; names that are not known are left out. */
export function agentsOfLabel(label: string | undefined): readonly ImageAgent[] {
  const names = (label ?? "").split(",");
  return sortedAgents(names.filter((name) => name === "codex" || name === "claude"));
}
