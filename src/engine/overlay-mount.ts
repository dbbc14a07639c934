import type { EngineKind } from "../core/run-spec.ts";
import { csvField } from "./csv-field.ts";
import type { OverlayMount } from "./port.ts";

/**
 * What the kernel would take for its own grammar in the options of an overlay (`:` and `,` separate, `\` escapes), or the
 * engines in theirs (`"`). Escapes are read differently by mount(2), by mount(8) and by newer kernels, so none are used.
 */
const UNSAFE = /[:,"\\\p{Cc}]/u;
/** mount(2) reads its options from one page of memory, of which the smallest has 4 KiB; some is left for the engine. */
const OPTIONS_LIMIT_BYTES = 4000;

/**
 * Options of the mount, each for a reason: without `redirect_dir` a rename of a directory from below fails with EXDEV;
 * with `metacopy` a changed file could lie in `upper` without its content, and with `index` the layers could not be
 * mounted again after one of them moved. The kernel's own defaults for the three depend on how it was built.
 */
const OPTIONS = "redirect_dir=on,metacopy=off,index=off,nosuid,nodev";

/**
 * Why an overlay cannot be mounted whatever the engine, as the end of a sentence that begins with "because"; undefined
 * when nothing speaks against it.
 */
export function overlayProblem(overlay: OverlayMount): string | undefined {
  const { lower, upper, work, target } = overlay;
  const path = [...lower, upper, work, target].find((one) => UNSAFE.test(one));
  if (path !== undefined)
    return `the path ${JSON.stringify(path)} has a character that an overlay mount cannot name (a colon, a comma, a quote, a backslash or a control character)`;
  if (lower.length === 0) return "an overlay needs at least one layer below";
  return Buffer.byteLength(mountOptions(overlay)) > OPTIONS_LIMIT_BYTES
    ? `the paths of its ${lower.length + 2} directories are too long for one mount`
    : undefined;
}

/**
 * Value of the engine's `--mount` for an overlay: a volume without a name, which the engine mounts as the container
 * starts and takes away with it. Holds only where `overlayProblem` sees none.
 *
 * @param labels put on the volume, so that one that an engine lost can be found; Podman 4 takes none.
 */
export function overlayArgument(
  kind: EngineKind,
  overlay: OverlayMount,
  labels: Readonly<Record<string, string>>,
): string {
  const fields = [
    "type=volume",
    `dst=${overlay.target}`,
    ...(kind === "docker" ? dockerFields(labels) : []),
    "volume-opt=type=overlay",
    "volume-opt=device=overlay",
    `volume-opt=o=${mountOptions(overlay)}`,
  ];
  return fields.map(csvField).join(",");
}

/** Else Docker would copy what the image has at the target into `upper`. Podman does so only for an empty directory. */
function dockerFields(labels: Readonly<Record<string, string>>): readonly string[] {
  const pairs = Object.entries(labels).map(([name, value]) => `volume-label=${name}=${value}`);
  return ["volume-nocopy=true", "volume-driver=local", ...pairs];
}

function mountOptions({ lower, upper, work, durability }: OverlayMount): string {
  const options = durability === "volatile" ? `${OPTIONS},volatile` : OPTIONS;
  return `lowerdir=${lower.join(":")},upperdir=${upper},workdir=${work},${options}`;
}
