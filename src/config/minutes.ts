import { z } from "zod";

/** A limit in minutes; fractions are allowed. */
export function minutesUpTo(most: number) {
  return {
    schema: z.number().positive().max(most),
    expects: `minutes, more than 0 and at most ${most}`,
  } as const;
}

export const DAY_MINUTES = 24 * 60;
