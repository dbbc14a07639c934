/** The flow in its order; see ARCHITECTURE.md. A run without setup commands has no stage `setup`. */
export const STAGES = [
  "spec",
  "lease",
  "setup",
  "snapshot",
  "agent",
  "collect",
  "import",
  "release",
  "validate",
  "review",
] as const;

export type StageName = (typeof STAGES)[number];
