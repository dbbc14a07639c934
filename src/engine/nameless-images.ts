import { z } from "zod";
import type { Failure } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import { type EngineClient, engineFailure, parseJson } from "./client.ts";
import { IMAGE_LABEL } from "./image/labels.ts";
import { onlyOne } from "./inspect-image.ts";
import type { NamelessImage } from "./port.ts";

const IMAGE = z.object({
  Id: z.string(),
  Size: z.number().nonnegative(),
  RepoTags: z.array(z.string()).nullish(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

/** Images with the label of our builds and without any name. What cannot be read is left out: it stays. */
export async function namelessImages(
  client: EngineClient,
): Promise<Result<readonly NamelessImage[], Failure>> {
  const exit = await client.call([
    "images",
    "--quiet",
    "--no-trunc",
    "--filter=dangling=true",
    `--filter=label=${IMAGE_LABEL.inputs}`,
  ]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) return err(engineFailure(client.kind, "list images", exit.value));
  const ids = new Set(
    exit.value.stdout
      .toString("utf8")
      .split("\n")
      .filter((id) => id !== ""),
  );
  const images: NamelessImage[] = [];
  for (const id of ids) {
    const image = await lookAt(client, id);
    if (image !== undefined) images.push(image);
  }
  return ok(images);
}

/** Looks again right before: somebody may have given it a name, and removing by id would take that too. */
export async function removeNamelessImage(
  client: EngineClient,
  id: string,
): Promise<Result<"removed" | "kept", Failure>> {
  if ((await lookAt(client, id)) === undefined) return ok("kept");
  const exit = await client.call(["image", "rm", id]);
  if (!exit.ok) return exit;
  if (exit.value.code === 0) return ok("removed");
  const said = exit.value.stderr.toString("utf8");
  // What the engines say of an image that a container uses, that another image is built on, or that is gone.
  if (/in use|is using|being used|dependent child|no such image|image not known/i.test(said))
    return ok("kept");
  return err(engineFailure(client.kind, `remove the image ${id}`, exit.value));
}

async function lookAt(client: EngineClient, id: string): Promise<NamelessImage | undefined> {
  const exit = await client.call(["image", "inspect", "--format", "{{json .}}", id]);
  if (!exit.ok || exit.value.code !== 0) return undefined;
  const image = IMAGE.safeParse(onlyOne(parseJson(exit.value.stdout))).data;
  if (image === undefined || (image.RepoTags ?? []).length > 0) return undefined;
  if (image.Config?.Labels?.[IMAGE_LABEL.inputs] === undefined) return undefined;
  return { id: image.Id, sizeBytes: image.Size };
}
