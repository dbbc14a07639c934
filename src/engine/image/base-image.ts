import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { type ImageEngine, baseName } from "./image-engine.ts";
import { existingImage } from "./existing.ts";
import type { Stepper } from "./step.ts";

/** A registry that can be reached answers within this time; the download itself may take longer. */
const FIRST_ANSWER_MS = 20_000;
const DOWNLOAD_MS = 20 * 60_000;

/** Podman says "Trying to pull …" before it has reached anybody, and these once it has; all on standard error. */
const PODMAN_HAS_AN_ANSWER = /Getting image source|Copying (?:blob|config)|Writing manifest/;

export type BaseImage =
  | { readonly kind: "available" }
  | { readonly kind: "unavailable"; readonly why: string };

/**
 * Makes the base image available: pulled from a registry, or already there when no registry answers. A registry
 * out of reach may refuse at once or hang: without a first answer in a short time it counts as unavailable, which
 * is an answer and not a failure.
 */
export async function provideBase(
  steps: Stepper,
  engine: ImageEngine,
  base: string,
): Promise<Result<BaseImage, Failure>> {
  const pull = await steps.attempt({
    program: engine.program,
    args: ["pull", baseName(engine, base)],
    deadlineMs: DOWNLOAD_MS,
    firstOutputMs: FIRST_ANSWER_MS,
    firstOutput: PODMAN_HAS_AN_ANSWER,
  });
  if (!pull.ok) return pull;
  if (pull.value.code === 0) return ok({ kind: "available" });
  const local = await existingImage(steps, engine, baseName(engine, base));
  if (!local.ok) return local;
  if (local.value !== undefined) return ok({ kind: "available" });
  const why =
    pull.value.ended === "aborted"
      ? `no answer within ${FIRST_ANSWER_MS / 1000} seconds`
      : reasonOf(pull.value.stderr);
  return ok({ kind: "unavailable", why });
}

function reasonOf(stderr: Buffer): string {
  const line = stderr.toString("utf8").trim().split("\n").at(-1) ?? "";
  return line.replace(/^(Error response from daemon|Error): /, "");
}
