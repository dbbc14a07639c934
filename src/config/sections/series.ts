import { z } from "zod";
import { setting } from "../setting.ts";

export const parallel = setting({
  key: "run.parallel",
  guard: "GUARD_PARALLEL",
  flag: { name: "--parallel", takes: "N" },
  kind: "number",
  schema: z.int().min(1).max(64),
  expects: "a whole number from 1 to 64",
  standard: 1,
  description: "How many runs go on at once, each with one task of its own.",
  loosening: "never",
});

export const attempts = setting({
  key: "run.attempts",
  guard: "GUARD_ATTEMPTS",
  flag: { name: "--attempts", takes: "M" },
  kind: "number",
  schema: z.int().min(1).max(64),
  expects: "a whole number from 1 to 64",
  standard: 1,
  description: "How often one task is run on the same base, to compare; several agents take turns.",
  loosening: "never",
});

export const maxFailures = setting({
  key: "run.max_failures",
  guard: "GUARD_MAX_FAILURES",
  flag: { name: "--max-failures", takes: "K" },
  kind: "number",
  schema: z.int().min(0).max(1000),
  expects: "a whole number from 0 to 1000",
  standard: 0,
  description: "Failed runs after which a series ends that keeps going; 0 for no limit.",
  loosening: "never",
});

/** A day is the end. */
const seconds = z
  .number()
  .min(0)
  .max(24 * 60 * 60);

export const backoff = setting({
  key: "run.backoff_seconds",
  guard: "GUARD_BACKOFF_SECONDS",
  flag: { name: "--backoff-seconds", takes: "N" },
  kind: "number",
  schema: seconds,
  expects: "seconds, at most 86400",
  standard: 10,
  description: "Wait after a failed run before the next; doubled for each further one in a row.",
  loosening: "never",
});

export const backoffMax = setting({
  key: "run.backoff_max_seconds",
  guard: "GUARD_BACKOFF_MAX_SECONDS",
  flag: { name: "--backoff-max-seconds", takes: "N" },
  kind: "number",
  schema: seconds,
  expects: "seconds, at most 86400",
  standard: 600,
  description: "The longest of these waits.",
  loosening: "never",
});

export const giveUpAfter = setting({
  key: "run.give_up_after",
  guard: "GUARD_GIVE_UP_AFTER",
  flag: { name: "--give-up-after", takes: "N" },
  kind: "number",
  schema: z.int().min(0).max(1000),
  expects: "a whole number from 0 to 1000",
  standard: 3,
  description: "Failures in a row after which a task is only run by name; 0 for never.",
  loosening: "never",
});
