import { type ExistingImage } from "./existing.ts";
import {
  type BaseOf,
  type ImageSource,
  IMAGE_LABEL,
  agentsOfLabel,
  inputsDigest,
} from "./labels.ts";
import type { ImageAgent, ImageVersions } from "./versions.ts";

export interface Wanted {
  readonly imageDir: string;
  readonly versions: ImageVersions;
  /** `default` accepts whatever agents the image has. */
  readonly agents: readonly ImageAgent[] | "default";
  readonly source: "auto" | "registry" | "debian";
  readonly from: BaseOf | undefined;
}

/** The image with its source when it is made of what is wanted; undefined when it must be built. */
export async function upToDate(
  image: ExistingImage,
  wanted: Wanted,
): Promise<(ExistingImage & { readonly source: ImageSource }) | undefined> {
  const source = image.labels[IMAGE_LABEL.source];
  if (source !== "registry" && source !== "debian" && source !== "image") return undefined;
  if ((source === "image") !== (wanted.from !== undefined)) return undefined;
  if (wanted.from === undefined && wanted.source !== "auto" && wanted.source !== source)
    return undefined;
  const agents =
    wanted.agents === "default" ? agentsOfLabel(image.labels[IMAGE_LABEL.agents]) : wanted.agents;
  const digest = await inputsDigest({ ...wanted, agents });
  return digest === image.labels[IMAGE_LABEL.inputs] ? { ...image, source } : undefined;
}
