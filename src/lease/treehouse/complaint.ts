import type { Exit } from "../../process/command.ts";

/** What treehouse said when it failed: one sentence, and the lines for those who want them all. */
export interface Complaint {
  readonly sentence: string;
  readonly lines: readonly string[];
}

/** Standard error begins with banners, so the last line that speaks of an error counts, else the last line. */
export function complaint(exit: Exit, command: string): Complaint {
  const lines = exit.stderr
    .toString("utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(-12);
  if (exit.ended === "deadline")
    return { sentence: `treehouse ${command} did not end in time and was stopped.`, lines };
  const said = lines.findLast((line) => /error|fail|fatal|cannot/i.test(line)) ?? lines.at(-1);
  const how = `treehouse ${command} ended with ${exit.signal ?? `status ${exit.code}`}`;
  return { sentence: said === undefined ? `${how}.` : `${how}: ${said}`, lines };
}
