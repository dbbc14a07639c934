import type { RunSpec } from "../../core/run-spec.ts";

/** `podman 4.3.1 (rootless, runtime crun)`; records of 0.1 hold no more than name and version. */
export function engineText({ kind, version, rights, runtime }: RunSpec["engine"]): string {
  const more = [rights, runtime === undefined ? undefined : `runtime ${runtime}`];
  const known = more.filter((one) => one !== undefined);
  return known.length === 0 ? `${kind} ${version}` : `${kind} ${version} (${known.join(", ")})`;
}

/** The beginning of an image's id; Docker writes the kind of hash before it, Podman does not. */
export function shortId(imageId: string): string {
  return imageId.slice(0, imageId.startsWith("sha256:") ? 19 : 12);
}
