import { begin as beginWith } from "./main.ts";
import type { Loaders } from "./program.ts";

/** Every command, loaded when it is wanted: starting up is most of what `runs` costs. */
const LOADERS: Required<Loaders> = {
  init: async () => (await import("./commands/init.ts")).initCommand,
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand,
  tasks: async () => (await import("./commands/tasks.ts")).tasksCommand,
  explain: async () => (await import("./commands/explain.ts")).explainCommand,
  run: async () => (await import("./commands/run.ts")).runCommand,
  runs: async () => (await import("./commands/runs.ts")).runsCommand,
  show: async () => (await import("./commands/show.ts")).showCommand,
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

/** The part of the bundle with everything in it. */
export async function begin(): Promise<void> {
  await beginWith(LOADERS);
}
