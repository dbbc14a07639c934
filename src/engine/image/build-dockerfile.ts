import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Devcontainer } from "./devcontainer.ts";
import type { ImageEngine } from "./image-engine.ts";
import { stepper } from "./step.ts";

const BUILD_MS = 30 * 60_000;

export interface DockerfileBuild {
  readonly engine: ImageEngine;
  readonly env: HostEnvironment;
  /** The name that the image gets. */
  readonly name: string;
  /** Files of the repository at the principal HEAD. */
  readonly filesDir: string;
  /** A directory of this build alone. */
  readonly workDir: string;
  readonly signal: AbortSignal;
}

/** Builds the repository's own Dockerfile, which runs with a network and without anything of guardloop's. */
export async function buildDockerfile(
  { dockerfile, context, target, args }: Extract<Devcontainer, { kind: "dockerfile" }>,
  build: DockerfileBuild,
): Promise<Result<void, Failure>> {
  const { env, workDir, signal } = build;
  await mkdir(workDir, { recursive: true });
  const steps = stepper({ env, workDir, signal, onDetail: () => {} });
  const built = await steps.must("Building the repository's Dockerfile", {
    program: build.engine.program,
    args: [
      "build",
      "--force-rm",
      "--tag",
      build.name,
      "--file",
      join(build.filesDir, dockerfile),
      ...(target === undefined ? [] : ["--target", target]),
      ...Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
      ...steps.proxyNames.flatMap((name) => ["--build-arg", name]),
      join(build.filesDir, context),
    ],
    deadlineMs: BUILD_MS,
  });
  return built.ok ? ok(undefined) : built;
}
