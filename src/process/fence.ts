import type { Command } from "./command.ts";

/** Exit status of a child whose fence was down; EX_TEMPFAIL of sysexits.h, which git does not use. */
export const FENCED = 75;

/** A constant, as in `bounds.ts`: path, program and arguments come as positional parameters. */
const SCRIPT = `test -e "$1" || exit ${FENCED}; shift; exec "$@"`;

/** The same command, started only while the file is there. */
export function behindFence(argv: Command["argv"], path: string): Command["argv"] {
  return ["/bin/sh", "-c", SCRIPT, "sh", path, ...argv];
}
