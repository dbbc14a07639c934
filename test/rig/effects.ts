import { spawn } from "node:child_process";
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { GOOD_AGENT, type World, installProgram, makeWorld } from "./world.ts";

const BIN = join(import.meta.dirname, "../../bin/guardloop.js");
const HOOK = pathToFileURL(join(import.meta.dirname, "crash-hook.mjs")).href;

export type LeaseKind = "builtin" | "treehouse";

/** A world whose runs lease from this pool; treehouse is the scripted one. */
export function leaseWorld(lease: LeaseKind): World {
  const world = makeWorld();
  if (lease === "treehouse") installProgram("treehouse.js", join(world.bin, "treehouse"));
  return world;
}

export function runArgs(lease: LeaseKind, script = GOOD_AGENT): readonly string[] {
  return ["run", "--agent", "command", "--lease", lease, "--", "sh", "-c", script];
}

/**
 * Of effects as `test/rig/crash-hook.mjs` names them: one point before each, and one more while a program works that
 * changes something.
 */
export function crashPoints(effects: readonly string[]): readonly string[] {
  return effects.flatMap((effect) =>
    /^(git|docker|podman|treehouse) /.test(effect)
      ? [`before ${effect}`, `during ${effect}`]
      : [`before ${effect}`],
  );
}

/** Ends the command by SIGKILL at the point, then waits for the programs that it leaves alone. */
export async function killedAtEffect(
  world: World,
  args: readonly string[],
  point: string,
): Promise<void> {
  await leftAtEffect(world, args, point);
  await quiet(world);
}

/** Ends the command by SIGKILL at the point; what it had started works on. */
export async function leftAtEffect(
  world: World,
  args: readonly string[],
  point: string,
): Promise<void> {
  const ended = await hooked(world, args, { CRASH_AT: point });
  if (ended.signal !== "SIGKILL")
    throw new Error(`${args[0]} never came to ${point}: ${ended.code} ${ended.output}`);
}

/** Starts a command that stops, as if by SIGSTOP from outside, at the point, and comes to its end after `goOn`. */
export async function stoppedAtEffect(
  world: World,
  args: readonly string[],
  point: string,
): Promise<{ readonly pid: number; readonly goOn: () => Promise<Hooked> }> {
  let pid = 0;
  const ended = hooked(
    world,
    args,
    { CRASH_AT: point, CRASH_HOW: "stop" },
    { onStart: (started) => (pid = started) },
  );
  let over: Hooked | undefined;
  void ended.then((how) => (over = how));
  while (stateOf(pid) !== "T") {
    if (over !== undefined)
      throw new Error(`${args[0]} never came to ${point}: ${over.code} ${over.output}`);
    await delay(10);
  }
  return {
    pid,
    goOn: () => {
      process.kill(pid, "SIGCONT");
      return ended;
    },
  };
}

export interface Hooked {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

export function hooked(
  world: World,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  options: { readonly onStart?: (pid: number) => void } = {},
): Promise<Hooked> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: world.repo,
      env: {
        ...world.env,
        NODE_OPTIONS: `--import ${HOOK}`,
        CRASH_ROOT: world.root,
        ...settings,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve({ code, signal, output }));
    if (child.pid !== undefined) options.onStart?.(child.pid);
  });
}

/** Waits until no program works in this world any more. */
export async function quiet(world: World): Promise<void> {
  for (let attempt = 0; attempt < 2_000; attempt += 1) {
    if (programsIn(world).length === 0) return;
    await delay(20);
  }
  throw new Error(`still at work: ${programsIn(world).join("; ")}`);
}

function programsIn(world: World): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        const at = readlinkSync(`/proc/${pid}/cwd`);
        return line.includes(world.root) || at.startsWith(world.root) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });
}

/** One letter, as in proc(5); `T` is a process that was stopped. */
function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

/** The sample of the points; every one with CRASH_POINTS=all, which takes half an hour for the matrix on two cores. */
export function chosen(
  points: readonly string[],
  sample: (points: readonly string[]) => readonly string[],
): readonly string[] {
  // oxlint-disable-next-line node/no-process-env
  return process.env.CRASH_POINTS === "all" ? points : sample(points);
}

/** One point in `stride`, the first of them at `from`. */
export function oneIn(stride: number, points: readonly string[], from = 0): readonly string[] {
  return points.filter((_, index) => index % stride === from);
}
