import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** Agents that can be put into the image. */
export const IMAGE_AGENTS = ["codex", "claude", "gemini", "opencode"] as const;
export type ImageAgent = (typeof IMAGE_AGENTS)[number];

const exactVersion = z.string().regex(/^\d+\.\d+\.\d+$/);
const pinnedPackage = z.strictObject({ package: z.string(), version: exactVersion });

const schema = z.strictObject({
  imageVersion: z.string(),
  base: z.string(),
  node: exactVersion,
  npm: exactVersion,
  agents: z.strictObject({
    codex: pinnedPackage,
    claude: pinnedPackage,
    gemini: pinnedPackage,
    opencode: pinnedPackage,
  }),
  debian: z.strictObject({
    suite: z.string(),
    packages: z.array(z.string().regex(/^[a-z0-9][a-z0-9.+-]+$/)),
  }),
});

/** What the image is made of: image/versions.json, the one place for pinned versions. */
export type ImageVersions = z.infer<typeof schema>;

/**
 * Reads `versions.json` of the package's image directory.
 *
 * @throws when it is missing or malformed: it is part of the package, so that is a broken installation.
 */
export async function readVersions(imageDir: string): Promise<ImageVersions> {
  return schema.parse(JSON.parse(await readFile(join(imageDir, "versions.json"), "utf8")));
}

/** Agents as npm takes them, for example `@openai/codex@0.171.0`; sorted, so that equal sets give equal images. */
export function agentPackages(
  versions: ImageVersions,
  agents: readonly ImageAgent[],
): readonly string[] {
  return sortedAgents(agents).map((agent) => agentPackage(versions, agent));
}

/** One of them. */
export function agentPackage(versions: ImageVersions, agent: ImageAgent): string {
  const pinned = versions.agents[agent];
  return `${pinned.package}@${pinned.version}`;
}

/** Without doubles, in one order. */
export function sortedAgents(agents: readonly ImageAgent[]): readonly ImageAgent[] {
  return IMAGE_AGENTS.filter((agent) => agents.includes(agent));
}
