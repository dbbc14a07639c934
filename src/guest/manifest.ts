import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ARTIFACT, type Manifest } from "../core/artifacts.ts";

/** Writes manifest.json as a whole or not at all: under another name, flushed, then renamed. */
export async function writeManifest(artifacts: string, manifest: Manifest): Promise<void> {
  const path = join(artifacts, ARTIFACT.manifest);
  const draft = `${path}.draft`;
  await rm(draft, { recursive: true, force: true });
  const handle = await open(draft, "wx", 0o644);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await handle.chmod(0o644);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
