import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { type Ended, type World } from "./world.ts";

/** Waits for something to become true; says what, when it never does. */
export async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 2_400; attempt += 1) {
    if (isTrue()) return;
    await delay(25);
  }
  throw new Error(`it never came to be that ${what}`);
}

/** What the agents of this world have printed, as their runs' records have it. */
export function agentLogs(world: World): string {
  const runs = join(world.state, "runs");
  if (!existsSync(runs)) return "";
  const logs = readdirSync(runs).map((run) => join(runs, run, "agent.log"));
  return logs.map((log) => (existsSync(log) ? readFileSync(log, "utf8") : "")).join("");
}

export interface StartedRun {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** On standard error, so far. */
  readonly said: () => string;
}

/** A run whose agent has printed `started`. */
export async function startedRun(
  world: World,
  script: string,
  flags: readonly string[] = [],
): Promise<StartedRun> {
  let pid = 0;
  let said = "";
  const ended = world.run(`echo started; ${script}`, flags, {
    onStart: (id) => (pid = id),
    onStderr: (text) => (said += text),
  });
  await until("the agent has started", () => agentLogs(world).includes("started"));
  return { pid, ended, said: () => said };
}

/** A run whose process was killed with SIGKILL while its agent worked. */
export async function orphanedRun(
  world: World,
  script: string,
  flags: readonly string[] = [],
): Promise<void> {
  const { pid, ended } = await startedRun(world, script, flags);
  process.kill(pid, "SIGKILL");
  await ended;
}

/**
 * Living programs of this world, of guardloop, the engine's clients and the scripted containers: each has the world's
 * directory among its arguments or in its environment, which children inherit.
 */
export function livingPrograms(world: World): readonly string[] {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      const line = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      const all = line + read(`/proc/${pid}/environ`);
      return line !== "" && all.includes(world.root) ? [`${pid} ${line}`] : [];
    });
}

/** What a killed process leaves to the kernel takes a moment to go. */
export async function expectNoProgramLeft(world: World): Promise<void> {
  for (let attempt = 0; livingPrograms(world).length > 0 && attempt < 200; attempt += 1)
    await delay(25);
  expect(livingPrograms(world)).toEqual([]);
}

/** Containers of a run in the real Docker, running or not. */
export function dockerContainersOf(runId: string): string {
  const filter = `--filter=label=guardloop.run=${runId}`;
  return execFileSync("docker", ["ps", "-aq", filter], { encoding: "utf8" });
}
