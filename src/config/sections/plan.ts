import { z } from "zod";
import { setting } from "../setting.ts";
import { repositoryPath } from "../text-schemas.ts";

export const paths = setting({
  key: "plan.paths",
  guard: "GUARD_PLAN",
  flag: { name: "--plan", takes: "GLOB" },
  kind: "list",
  schema: z.array(repositoryPath()).min(1),
  expects: "at least one glob relative to the repository's root",
  standard: ["docs/TASKS.md", "docs/tasks/*.md"],
  description: "Files of the task plan: globs relative to the repository's root.",
  loosening: "never",
});

export const runnable = setting({
  key: "plan.runnable",
  guard: "GUARD_RUNNABLE",
  flag: { name: "--runnable", takes: "STATUS" },
  kind: "list",
  schema: z.array(z.enum(["ready", "planned"])).min(1),
  expects: "a list of ready, planned",
  standard: ["ready", "planned"],
  description: "Statuses that make a task runnable.",
  loosening: "never",
});
