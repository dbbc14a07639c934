import type { Engine, NamelessImage } from "../../engine/port.ts";
import { runPaths } from "../paths.ts";
import { readSpec } from "../stages/spec.ts";
import type { HouseItem, Survey, Thing } from "./item.ts";
import type { HouseServices } from "./services.ts";

/**
 * Images that guardloop built and that lost their name to a newer one. One that has any name is somebody's, and one
 * that a run or the settings name by its id is in use.
 */
export async function surveyImages(services: HouseServices): Promise<Survey> {
  const items: HouseItem[] = [];
  const kept: Thing[] = [];
  const problems: string[] = [];
  for (const engine of services.engines) {
    const images = await engine.namelessImages();
    if (!images.ok) problems.push(images.error.message);
    for (const image of images.ok ? images.value : []) {
      const thing = { kind: "image", what: image.id, run: null, repository: null } as const;
      const user = await userOf(services, image.id);
      if (user === undefined) items.push({ ...thing, ...removable(engine, image) });
      else kept.push({ ...thing, why: user });
    }
  }
  return { items, kept, problems };
}

function removable(engine: Engine, { id, sizeBytes }: NamelessImage) {
  return {
    why: "a newer one has its name",
    // Layers that another image shares are counted in, and stay: the engine does not tell.
    size: { bytes: sizeBytes, extent: "whole" as const },
    when: "any-time" as const,
    remove: () => engine.removeNamelessImage(id),
  };
}

/** Whoever names the image by its id. */
async function userOf(services: HouseServices, id: string): Promise<string | undefined> {
  if (isId(services.image, id)) return "container.image names it";
  for (const run of services.history.runs()) {
    if (run.recordRemoved !== null) continue;
    const spec = await readSpec(runPaths(services.env.stateDir, run.id));
    if (spec.ok && isId(spec.value.image.name, id)) return `run ${run.id} names it`;
  }
  return undefined;
}

/** Engines take the beginning of an id for the whole. */
function isId(name: string, id: string): boolean {
  return name !== "" && bare(id).startsWith(bare(name));
}

function bare(id: string): string {
  return id.replace(/^sha256:/, "");
}
