import type { Bounds, Command } from "./command.ts";

/** Between the polite signal for too much processor time and the hard one. */
const CPU_GRACE_SECONDS = 5;

/**
 * Node cannot set resource limits, a shell can. The script is a constant: numbers, program and arguments come as
 * positional parameters, so nothing is ever read as shell text. After `exec` the shell is gone: the process, its pid
 * and its streams are the program's own. A system without a limit of address space says so to nobody.
 */
const SCRIPT =
  'ulimit -v "$1" 2>/dev/null; ulimit -f "$2"; ulimit -t "$3"; ulimit -S -t "$4"; shift 4; exec "$@"';

/** POSIX counts files in blocks of 512 bytes; `ulimit -v` counts in KiB wherever it is there. */
const FILE_BLOCK_BYTES = 512;
const KIB = 1024;

/** The same command, started with limits on what it may use. */
export function withinBounds(argv: Command["argv"], bounds: Bounds): Command["argv"] {
  const numbers = [
    Math.floor(bounds.addressSpaceBytes / KIB),
    Math.floor(bounds.fileBytes / FILE_BLOCK_BYTES),
    bounds.cpuSeconds + CPU_GRACE_SECONDS,
    bounds.cpuSeconds,
  ];
  return ["/bin/sh", "-c", SCRIPT, "sh", ...numbers.map(String), ...argv];
}
