/** See the state diagram in ARCHITECTURE.md. `ready` means: an agent branch is published. */
export const RUN_STATES = [
  "running",
  "ready",
  "failed",
  "interrupted",
  "promoted",
  "discarded",
  "rolled-back",
] as const;

export type RunState = (typeof RUN_STATES)[number];

const NEXT: Readonly<Record<RunState, readonly RunState[]>> = {
  running: ["ready", "failed", "interrupted"],
  failed: ["ready"],
  interrupted: ["ready"],
  ready: ["promoted", "discarded"],
  discarded: ["ready"],
  promoted: ["rolled-back"],
  "rolled-back": ["ready"],
};

export function mayBecome(from: RunState, to: RunState): boolean {
  return NEXT[from].includes(to);
}
