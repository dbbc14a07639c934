/** What the guest's exit status says to the host; see docs/artifacts.md. */
export const GUEST_EXIT = {
  done: 0,
  /** The surroundings were not as agreed; nothing was started and nothing was written. */
  refused: 70,
  /** The run is over and exported, but a required artifact is missing or bad. */
  incomplete: 71,
  /** The work could not be exported; the host's salvage may still get it out. */
  exportFailed: 72,
} as const;
export type GuestExit = (typeof GUEST_EXIT)[keyof typeof GUEST_EXIT];
