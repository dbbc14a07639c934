import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { STAGES } from "../../src/core/stage-name.ts";
import { expect } from "vitest";
import { GOOD_AGENT, type World, checkoutDigest, leftovers } from "./world.ts";

const BIN = join(import.meta.dirname, "../../bin/guardloop.js");

interface Line {
  readonly event?: { readonly type: string; readonly stage?: string };
}

export const points = (stages: readonly string[]): readonly string[] =>
  stages.flatMap((stage) => [`stage-intent ${stage}`, `stage-done ${stage}`]);

/** These runs have no setup commands, and so no such stage. */
const WITHOUT_SETUP = STAGES.filter((stage) => stage !== "setup");

/** Points at which the agent is not done yet. */
export const BEFORE = points(WITHOUT_SETUP.slice(0, WITHOUT_SETUP.indexOf("agent") + 1)).slice(
  0,
  -1,
);
/** Starts a run and sends it SIGKILL, which nothing can catch, as soon as it tells of this event. */
export async function killedAt(world: World, point: string): Promise<void> {
  const [type, stage] = point.split(" ");
  // So slow that an agent that is not to end cannot end before the signal is there.
  const script = BEFORE.includes(point) ? `sleep 3\n${GOOD_AGENT}` : GOOD_AGENT;
  const args = ["run", "--json", "--agent", "command", "--", "sh", "-c", script];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env: world.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  let seen = false;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const lines = text.split("\n").slice(0, -1);
    const isPoint = ({ event }: Line): boolean => event?.type === type && event?.stage === stage;
    if (seen || !lines.some((line) => isPoint(JSON.parse(line) as Line))) return;
    seen = true;
    child.kill("SIGKILL");
  });
  await new Promise((resolve) => child.on("exit", resolve));
  if (!seen) throw new Error(`the run never told of ${point}:\n${text}`);
  await settled(world);
}

/** The engine's client outlives us; a moment after the crash its container is there, or the client is gone. */
async function settled(world: World): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const containers = join(world.bin, "containers");
    if (existsSync(containers) && readdirSync(containers).length > 0) return;
    if (!commandLines().some((line) => line.includes(join(world.bin, "docker")))) return;
    await delay(25);
  }
  throw new Error("the scripted engine's client did neither start nor end");
}

function commandLines(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
}

/** Kills the run while its agent works. */
export async function killedWhile(world: World, script: string): Promise<void> {
  const args = ["run", "--agent", "command", "--", "sh", "-c", script];
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: world.repo,
    env: world.env,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const runs = join(world.state, "runs");
  const hasStarted = (): boolean =>
    existsSync(runs) &&
    readdirSync(runs).some((run) => {
      const log = join(runs, run, "agent.log");
      return existsSync(log) && readFileSync(log, "utf8").includes("started");
    });
  while (!hasStarted() && child.exitCode === null) await delay(25);
  child.kill("SIGKILL");
  await ended;
}

const AGENT_BRANCHES = /^refs\/heads\/agent\//;

/** After a crash and its recovery: the user's side untouched, nothing left over, nothing more to do. */
export async function expectRecovered(world: World, before: string): Promise<void> {
  expect(checkoutDigest(world, AGENT_BRANCHES)).toBe(before);
  expect(leftovers(world)).toEqual([]);
  const again = await world.guardloop(["recover"]);
  expect(again.stdout).toBe("Nothing to recover.\n");
  expect(again.code).toBe(0);
  execFileSync("git", ["fsck", "--strict"], { cwd: world.repo, env: world.env, stdio: "pipe" });
}
