import { randomBytes } from "node:crypto";

/** Lower-case base32 without the letters that are read wrongly (Crockford's alphabet). */
const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `YYMMDD-HHMMSS-xxxxx` in UTC: sortable by time, unique across hosts. */
export function newRunId(now: Date, random: (size: number) => Uint8Array = randomBytes): string {
  const digits = now.toISOString().replaceAll(/[-:T]/g, "").slice(2, 14);
  const tail = [...random(5)].map((byte) => BASE32[byte % 32]).join("");
  return `${digits.slice(0, 6)}-${digits.slice(6)}-${tail}`;
}

/**
 * A task id becomes part of a branch name and of paths, so besides the pattern it must pass the rules of
 * git-check-ref-format(1) for one component: no `..`, no trailing `.`, no `.lock` ending.
 */
export function isTaskId(text: string): boolean {
  return (
    TASK_ID.test(text) &&
    !text.includes("..") &&
    !text.endsWith(".") &&
    !text.toLowerCase().endsWith(".lock")
  );
}

export function agentBranch(taskId: string, runId: string): string {
  return `agent/${taskId}-${runId}`;
}

export const CONTAINER_PURPOSES = ["agent", "salvage", "validate", "setup"] as const;
/** `clear` is there for a moment, and found by its labels; see `removeOverlayWork`. */
export type ContainerPurpose = (typeof CONTAINER_PURPOSES)[number] | "clear";

/** The engine-visible name of a run's container; stopping and finding go by this name. */
export function containerName(runId: string, purpose: ContainerPurpose): string {
  return `guardloop-${runId}-${purpose}`;
}
