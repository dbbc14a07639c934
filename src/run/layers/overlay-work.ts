import { existsSync } from "node:fs";
import type { ContainerSpec, Engine } from "../../engine/port.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { runBriefly } from "./brief-container.ts";
import { type CheckedImage, checkingSpec } from "../container/image-check.ts";

/** Empties a directory that the kernel made for root alone and closed to all. */
const SCRIPT = `
const fs = require("node:fs");
for (const name of fs.readdirSync("/work")) {
  fs.chmodSync("/work/" + name, 0o700);
  fs.rmSync("/work/" + name, { recursive: true, force: true });
}`;

/**
 * Removes an overlay's work directory; its containers must be gone. What the kernel leaves in there belongs to root: where
 * guardloop runs as an ordinary user, a container without a network that sees nothing else removes it. What cannot be
 * removed stays, and is of a few bytes.
 */
export async function removeOverlayWork(
  engine: Engine,
  at: { readonly work: string; readonly image: CheckedImage; readonly stateDir: string },
): Promise<"removed" | "left"> {
  const { work, image, stateDir } = at;
  await removeTree(work).catch(() => undefined);
  if (!existsSync(work)) return "removed";
  const spec = checkingSpec({ purpose: "overlay-cleaning", image, stateDir, script: SCRIPT });
  const asRoot: ContainerSpec = {
    ...spec,
    user: { uid: 0, gid: 0 },
    mounts: [{ role: "workspace", source: work, target: "/work", access: "rw" }],
  };
  await runBriefly(engine, asRoot, new AbortController().signal);
  await removeTree(work).catch(() => undefined);
  return existsSync(work) ? "left" : "removed";
}
