import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Found } from "./found.ts";

/** Tries what only a privileged process may do. What worked all the same is undone at once. */
export function privileged(): Found["privileged"] {
  const directory = mkdtempSync(join(process.cwd(), ".posture-probe-"));
  const outcome = {
    mount: attempt("mount", ["-t", "tmpfs", "none", directory]),
    mknod: attempt("mknod", [join(directory, "device"), "c", "1", "3"]),
    // User namespaces are where an ordinary user becomes root, and where most holes of the kernel were.
    unshare: attempt("unshare", ["--user", "sh", "-c", ":"]),
  };
  if (outcome.mount === "done") attempt("umount", [directory]);
  rmSync(directory, { recursive: true, force: true });
  return outcome;
}

function attempt(program: string, args: readonly string[]): string {
  const ended = spawnSync(program, args, { stdio: "ignore" });
  if (ended.error !== undefined) return "no such program";
  return ended.status === 0 ? "done" : "refused";
}
