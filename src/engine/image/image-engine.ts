import type { EngineKind } from "../../core/run-spec.ts";

/** The engine that an image is made for; both clients have the same verbs. */
export interface ImageEngine {
  readonly kind: EngineKind;
  /** Absolute path of its client. */
  readonly program: string;
}

/** The name of a base image as the engine finds it: Podman has no registry that a short name belongs to. */
export function baseName({ kind }: ImageEngine, base: string): string {
  return kind === "podman" && !base.includes("/") ? `docker.io/library/${base}` : base;
}
