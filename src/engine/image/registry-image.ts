import type { Failure } from "../../core/failures.ts";
import type { Result } from "../../core/result.ts";
import type { Exit } from "../../process/command.ts";
import { type ImageEngine, baseName } from "./image-engine.ts";
import type { ImageContents } from "./labels.ts";
import type { Stepper } from "./step.ts";
import { IMAGE_AGENTS, agentPackage } from "./versions.ts";

const BUILD_MS = 30 * 60_000;

export interface RegistryBuild {
  readonly engine: ImageEngine;
  readonly name: string;
  readonly contents: ImageContents;
  readonly labels: Readonly<Record<string, string>>;
}

/** Builds image/Dockerfile on the base image, which must be there already. Needs no root. */
export function buildOnBase(steps: Stepper, build: RegistryBuild): Promise<Result<Exit, Failure>> {
  const { contents } = build;
  const { versions } = contents;
  const args = {
    BASE: baseName(build.engine, versions.base),
    DEBIAN_PACKAGES: versions.debian.packages.join(" "),
    ...agentArguments(contents),
  };
  return steps.must(`\`${build.engine.kind} build\``, {
    program: build.engine.program,
    args: [
      "build",
      "--force-rm",
      "--tag",
      build.name,
      ...Object.entries(build.labels).flatMap(([name, value]) => ["--label", `${name}=${value}`]),
      ...Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
      // Without a value: the client takes it from its environment, and the engine keeps it out of the image's history.
      ...steps.proxyNames.flatMap((name) => ["--build-arg", name]),
      contents.imageDir,
    ],
    deadlineMs: BUILD_MS,
  });
}

/** `CODEX=@openai/codex@0.171.0`, and so on; empty for an agent that is not wanted. */
function agentArguments({ versions, agents }: ImageContents): Readonly<Record<string, string>> {
  const entries = IMAGE_AGENTS.map((name) => [
    name.toUpperCase(),
    agents.includes(name) ? agentPackage(versions, name) : "",
  ]);
  return Object.fromEntries(entries);
}
