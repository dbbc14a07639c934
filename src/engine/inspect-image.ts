import { z } from "zod";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import { ENGINE_NAMES, type EngineClient, engineFailure, parseJson } from "./client.ts";
import type { ImageFacts } from "./port.ts";

/** What an engine says of an image that it does not have: Docker, Podman. */
export const NO_SUCH_IMAGE = /no such image|image not known/i;

/** The one description in an answer: Docker gives it alone, Podman 4 as a list of one. */
export function onlyOne(answer: unknown): unknown {
  return Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
}

const IMAGE = z.object({
  Id: z.string(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

/** Undefined when the engine has no such image. Never pulls. */
export async function inspectImage(
  client: EngineClient,
  name: string,
): Promise<Result<ImageFacts | undefined, Failure>> {
  const exit = await client.call(["image", "inspect", "--format", "{{json .}}", name]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) {
    if (NO_SUCH_IMAGE.test(exit.value.stderr.toString("utf8"))) return ok(undefined);
    return err(engineFailure(client.kind, `look for the image ${name}`, exit.value));
  }
  const image = IMAGE.safeParse(onlyOne(parseJson(exit.value.stdout)));
  if (!image.success)
    return fail(
      "container-failed",
      `${ENGINE_NAMES[client.kind]}'s description of the image ${name} cannot be read.`,
    );
  return ok({ id: image.data.Id, labels: image.data.Config?.Labels ?? {} });
}
