import type { Bounds, Exit } from "../process/command.ts";
import type { Git } from "./git.ts";

/**
 * Settings that keep Git's own appetite apart from what the input makes it want: by default it maps packs in windows of
 * 1 GiB without a limit on 64-bit systems, and every thread reserves address space of its own.
 */
export const PACK_WINDOWS: readonly string[] = [
  ["core.packedGitWindowSize", "64m"],
  ["core.packedGitLimit", "512m"],
  ["pack.threads", "1"],
  ["index.threads", "1"],
].flatMap(([key = "", value = ""]) => ["-c", `${key}=${value}`]);

/** The same Git, with limits on what each of its processes may use. For everything that reads untrusted content. */
export function withBounds(git: Git, bounds: Bounds): Git {
  return { exec: (args, options = {}) => git.exec(args, { bounds, ...options }) };
}

/**
 * What a child wanted more of than it may have, in words that complete "needed more than …"; undefined when no bound
 * ended it.
 */
export function boundHit(exit: Exit): string | undefined {
  const { bounds, signal } = exit;
  if (bounds === undefined) return undefined;
  if (signal === "SIGXFSZ") return `${size(bounds.fileBytes)} for one file`;
  if (signal === "SIGXCPU") return `${bounds.cpuSeconds} seconds of processor time`;
  const said = exit.stderr.toString("utf8");
  if (exit.code !== 0 && /out of memory|cannot allocate memory/i.test(said))
    return `${size(bounds.addressSpaceBytes)} of memory`;
  return undefined;
}

function size(bytes: number): string {
  const [unit, name] = UNITS.find(([one]) => bytes >= one) ?? [1, "bytes"];
  return `${Math.round(bytes / unit)} ${name}`;
}

const UNITS = [
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
] as const;
