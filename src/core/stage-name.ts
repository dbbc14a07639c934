/** The flow in its order; see ARCHITECTURE.md. */
export const STAGES = [
  "spec",
  "lease",
  "snapshot",
  "agent",
  "collect",
  "import",
  "release",
  "validate",
  "review",
] as const;

export type StageName = (typeof STAGES)[number];
