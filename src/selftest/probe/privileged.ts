import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Found } from "./found.ts";

/** Tries what only a privileged process may do. What worked all the same is undone at once. */
export function privileged(): Found["privileged"] {
  const directory = place();
  if (directory === undefined) return { mount: "refused", mknod: "refused", unshare: unshare() };
  const outcome = {
    mount: attempt("mount", ["-t", "tmpfs", "none", directory]),
    mknod: attempt("mknod", [join(directory, "device"), "c", "1", "3"]),
    unshare: unshare(),
  };
  if (outcome.mount === "done") attempt("umount", [directory]);
  rmSync(directory, { recursive: true, force: true });
  return outcome;
}

/** User namespaces are where an ordinary user becomes root, and where most holes of the kernel were. */
function unshare(): string {
  return attempt("unshare", ["--user", "sh", "-c", ":"]);
}

/** A directory of its own to try in; a root without capabilities may find none that it can write to. */
function place(): string | undefined {
  try {
    return mkdtempSync(join(process.cwd(), ".posture-probe-"));
  } catch {
    return undefined;
  }
}

function attempt(program: string, args: readonly string[]): string {
  const ended = spawnSync(program, args, { stdio: "ignore" });
  if (ended.error !== undefined) return "no such program";
  return ended.status === 0 ? "done" : "refused";
}
