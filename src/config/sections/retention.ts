import { z } from "zod";
import { setting } from "../setting.ts";

const STANDARD_DAYS = 14;

export const branchDays = setting({
  key: "retention.branch_days",
  guard: "GUARD_BRANCH_DAYS",
  flag: { name: "--branch-days", takes: "N" },
  kind: "number",
  schema: z.number().min(0).max(36_500),
  expects: "days, from 0 to 36500",
  standard: STANDARD_DAYS,
  description: "Days a landed or discarded branch is kept before it may be pruned.",
  // A repository must not be able to have somebody's work thrown away sooner.
  loosening: { when: `below ${STANDARD_DAYS}`, test: (days) => days < STANDARD_DAYS },
});
