import { z } from "zod";
import { type Failure, failure } from "../../core/failures.ts";
import { DEADLINES } from "../../core/limits.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { ENGINE_NAMES, parseJson } from "../client.ts";
import { NO_SUCH_IMAGE, onlyOne } from "../inspect-image.ts";
import type { ImageEngine } from "./image-engine.ts";
import { type Stepper, buildFailure } from "./step.ts";

export interface ExistingImage {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  /** The names it goes by; none when it lost its name to a newer image. */
  readonly tags: readonly string[];
}

const schema = z.object({
  Id: z.string(),
  Size: z.number(),
  RepoTags: z.array(z.string()).nullish(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

/** Looks an image up by name or id; undefined when the engine has none. Never pulls. */
export async function existingImage(
  steps: Stepper,
  engine: ImageEngine,
  name: string,
): Promise<Result<ExistingImage | undefined, Failure>> {
  const exit = await steps.attempt({
    program: engine.program,
    args: ["image", "inspect", "--format", "{{json .}}", name],
    deadlineMs: DEADLINES.engineQuickMs,
    output: "kept",
  });
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) {
    const reason = exit.value.stderr.toString("utf8").trim();
    if (NO_SUCH_IMAGE.test(reason)) return ok(undefined);
    const why = reason.split("\n")[0] ?? "";
    return err(
      failure("engine-unavailable", `${ENGINE_NAMES[engine.kind]} does not answer: ${why}`),
    );
  }
  const parsed = schema.safeParse(onlyOne(parseJson(exit.value.stdout)));
  if (!parsed.success) {
    return err(buildFailure(`\`${engine.kind} image inspect\` printed something unexpected.`));
  }
  const { Id, Size, RepoTags, Config } = parsed.data;
  return ok({ id: Id, sizeBytes: Size, labels: Config?.Labels ?? {}, tags: RepoTags ?? [] });
}
