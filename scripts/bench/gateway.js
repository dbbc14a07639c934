// What the gateway adds to a request: measured by scripts/bench-gateway.js, where that is there.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, must } from "./place.js";

const SCRIPT = join(ROOT, "scripts/bench-gateway.js");

/** @returns what the script printed, a Markdown table; null where there is no such script. */
export async function gateway(place) {
  if (!existsSync(SCRIPT)) return null;
  const { stdout } = await must([process.execPath, SCRIPT], { cwd: ROOT, env: place.env });
  return { printed: stdout.trim() };
}
