import type { Loaders } from "./program.ts";

/** These are reached without the others; see whole.ts. */
export type Frequent = "run" | "runs" | "show" | "tasks";

/** All the other commands: in the bundle they are one part, of which each runs only what it needs. */
export const OTHERS: Required<Omit<Loaders, Frequent>> = {
  init: async () => (await import("./commands/init.ts")).initCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand,
  explain: async () => (await import("./commands/explain.ts")).explainCommand,
  logs: async () => (await import("./commands/logs.ts")).logsCommand,
  watch: async () => (await import("./commands/watch.ts")).watchCommand,
  stop: async () => (await import("./commands/stop.ts")).stopCommand,
  export: async () => (await import("./commands/export.ts")).exportCommand,
  verify: async () => (await import("./commands/verify.ts")).verifyCommand,
  review: async () => (await import("./commands/review.ts")).reviewCommand,
  compare: async () => (await import("./commands/compare.ts")).compareCommand,
  validate: async () => (await import("./commands/validate.ts")).validateCommand,
  salvage: async () => (await import("./commands/salvage.ts")).salvageCommand,
  promote: async () => (await import("./commands/promote.ts")).promoteCommand,
  discard: async () => (await import("./commands/decisions.ts")).discardCommand,
  restore: async () => (await import("./commands/decisions.ts")).restoreCommand,
  rollback: async () => (await import("./commands/rollback.ts")).rollbackCommand,
  branches: async () => (await import("./commands/branches.ts")).branchesCommand,
  recover: async () => (await import("./commands/recover.ts")).recoverCommand,
  notify: async () => (await import("./commands/notify.ts")).notifyCommand,
  gc: async () => (await import("./commands/gc.ts")).gcCommand,
  image: async () => (await import("./commands/image.ts")).imageCommand,
  selftest: async () => (await import("./commands/selftest.ts")).selftestCommand,
  config: async () => (await import("./commands/config.ts")).configCommand,
  trust: async () => (await import("./commands/trust.ts")).trustCommand,
};
