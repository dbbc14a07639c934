import { z } from "zod";
import { setting } from "../setting.ts";
import { emptyOr, repositoryPath } from "../text-schemas.ts";

export const leaseKind = setting({
  key: "lease.kind",
  guard: "GUARD_LEASE",
  flag: { name: "--lease", takes: "KIND" },
  kind: "text",
  schema: z.enum(["auto", "builtin", "treehouse"]),
  expects: "one of auto, builtin, treehouse",
  standard: "auto",
  description: "Where worktrees come from; auto takes treehouse when a supported one is on PATH.",
  loosening: "never",
});

export const maxTasks = setting({
  key: "run.max_tasks",
  guard: "GUARD_MAX_TASKS",
  flag: { name: "--max-tasks", takes: "N" },
  kind: "number",
  schema: z.int().min(1).max(1000),
  expects: "a whole number from 1 to 1000",
  standard: 1,
  description: "How many tasks one invocation takes.",
  loosening: "never",
});

export const mode = setting({
  key: "run.mode",
  guard: "GUARD_RUN_MODE",
  flag: { name: "--independent", sets: "independent" },
  kind: "text",
  schema: z.enum(["stacked", "independent"]),
  expects: "one of stacked, independent",
  standard: "stacked",
  description: "What the next task builds on: the result before it (stacked) or the checkout.",
  loosening: "never",
});

export const onFailure = setting({
  key: "run.on_failure",
  guard: "GUARD_ON_FAILURE",
  flag: { name: "--keep-going", sets: "keep-going" },
  kind: "text",
  schema: z.enum(["stop", "keep-going"]),
  expects: "one of stop, keep-going",
  standard: "stop",
  description: "Whether a failed run, or one without progress, ends the series.",
  loosening: "never",
});

export const promote = setting({
  key: "run.promote",
  guard: "GUARD_PROMOTE",
  flag: { name: "--promote", takes: "HOW" },
  kind: "text",
  schema: z.enum(["manual", "auto"]),
  expects: "one of manual, auto",
  standard: "manual",
  description: "Whether a result waits for `guardloop promote` or lands in the checkout by itself.",
  loosening: { when: "when it is auto", test: (how) => how === "auto" },
});

export const orphans = setting({
  key: "recovery.containers",
  guard: "GUARD_ORPHANS",
  flag: { name: "--orphans", takes: "HOW" },
  kind: "text",
  schema: z.enum(["stop", "adopt"]),
  expects: "one of stop, adopt",
  standard: "stop",
  description:
    "What becomes of an agent whose guardloop died: it is ended and its work saved (stop), or goes on (adopt).",
  loosening: "never",
});

export const promptTemplate = setting({
  key: "prompt.template",
  guard: "GUARD_PROMPT_TEMPLATE",
  flag: { name: "--prompt-template", takes: "PATH" },
  kind: "text",
  schema: emptyOr(repositoryPath()),
  expects: "a path relative to the repository's root",
  standard: "",
  description: "A prompt template in the repository that replaces the built-in one.",
  loosening: "never",
});
