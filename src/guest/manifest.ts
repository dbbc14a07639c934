import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ARTIFACT, type Manifest } from "../core/artifacts.ts";

/** Writes manifest.json as a whole or not at all: under another name, flushed, then renamed. */
export function writeManifest(artifacts: string, manifest: Manifest): void {
  const path = join(artifacts, ARTIFACT.manifest);
  const draft = `${path}.draft`;
  rmSync(draft, { recursive: true, force: true });
  const fd = openSync(draft, "wx", 0o644);
  try {
    writeFileSync(fd, `${JSON.stringify(manifest, null, 2)}\n`);
    fchmodSync(fd, 0o644);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
}
