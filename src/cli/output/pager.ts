import { delimiter, isAbsolute } from "node:path";
import { pagerOf } from "../../git/pager.ts";
import type { Principal } from "../../git/principal.ts";
import { runOnTerminal } from "../../process/on-terminal.ts";
import type { Context } from "../context.ts";
import type { Output } from "./output.ts";

/** What Git sets for its pager where the user does not: leave when it fits the screen, show colours, do not clear. */
const UNLESS_SET = { LESS: "FRX", LV: "-c" } as const;
/** A shell's word for: no such program, or not one that can be run. */
const NOT_STARTED = new Set<number | null>([126, 127]);

/**
 * Prints through the user's pager where a person reads on a terminal, plainly everywhere else. The pager gets what
 * would have been printed: escaped, with no control characters but line feed, tab and our own colours.
 */
export async function paged(
  context: Context,
  at: { readonly principal: Principal; readonly pager: "wanted" | "unwanted" },
  print: (output: Output) => void,
): Promise<void> {
  const { output, env } = context;
  const wanted = at.pager === "wanted" && output.goesTo === "terminal";
  const line = wanted ? await pagerOf(at.principal, env) : undefined;
  if (line === undefined) return print(output);
  const gathered = output.gathering();
  print(gathered.output);
  const ended = await runOnTerminal({
    line,
    cwd: at.principal.topLevel,
    // Relative entries of PATH would let the repository plant a pager.
    env: {
      ...UNLESS_SET,
      ...env.terminal,
      PATH: env.path.split(delimiter).filter(isAbsolute).join(delimiter),
      HOME: env.home,
    },
    stdin: gathered.text(),
  });
  if (ended.ok && !NOT_STARTED.has(ended.value)) return;
  print(output);
  output.progress(
    `The pager "${line}" could not be started, so this was printed without it. It is set by GIT_PAGER, core.pager or PAGER.`,
  );
}
