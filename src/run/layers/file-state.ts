import { lstatSync } from "node:fs";

export interface Looked {
  readonly kind: "file" | "other";
  /** Everything by which a change of the file shows. */
  readonly state: string;
  /** `lately`: the file was changed a moment ago, and another change might not show. */
  readonly changed: "lately" | "earlier";
}

/** The kernel's clock for files goes in steps of some milliseconds, that of some file systems in seconds. */
const LATELY_MS = 2_000;

/** Looks at a path without following a link; undefined where there is nothing, or where it cannot be looked at. */
export function lookAt(path: string): Looked | undefined {
  try {
    const stat = lstatSync(path, { bigint: true });
    const { dev, ino, mode, size, mtimeNs, ctimeNs, ctimeMs } = stat;
    return {
      kind: stat.isFile() ? "file" : "other",
      state: [dev, ino, mode, size, mtimeNs, ctimeNs].join(" "),
      changed: Date.now() - Number(ctimeMs) < LATELY_MS ? "lately" : "earlier",
    };
  } catch {
    return undefined;
  }
}
