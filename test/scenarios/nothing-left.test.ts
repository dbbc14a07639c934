import { describe, expect, test } from "vitest";
import {
  type StartedRun,
  dockerContainersOf,
  expectNoProgramLeft,
  startedRun,
  until,
} from "../rig/orphans.ts";
import {
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

/** Leaves programs of its own behind: one in the background, one in a session of its own that ignores polite signals. */
const LITTER = `sleep 1000 & setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' & echo half > half.txt;`;
const FOREVER = "while :; do sleep 0.2; done";

interface Ending {
  readonly script: string;
  readonly flags?: readonly string[];
  /** What a person does when the agent has started. */
  readonly act?: (world: World, run: StartedRun) => Promise<unknown> | void;
  /** `running` where the process was ended at once: recovery brings the run to its end. */
  readonly state: "ready" | "failed" | "interrupted" | "running";
  readonly code?: string;
}

const signal =
  (name: NodeJS.Signals) =>
  (_world: World, { pid }: StartedRun): void => {
    process.kill(pid, name);
  };

async function twice(_world: World, { pid, said }: StartedRun): Promise<void> {
  process.kill(pid, "SIGINT");
  await until("the first signal was seen", () => said().includes("ending in order"));
  process.kill(pid, "SIGINT");
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  "a good end": { script: GOOD_AGENT, state: "ready" },
  "an agent that fails": {
    script: "exit 3",
    state: "failed",
    code: "missing-task-id",
  },
  "an agent whose guest is killed": {
    script: "kill -9 $PPID; sleep 10",
    state: "failed",
    code: "agent-killed",
  },
  "the wall clock": {
    script: FOREVER,
    flags: ["--wall-minutes", "0.05"],
    state: "failed",
    code: "agent-wall-limit",
  },
  "the idle clock": {
    script: FOREVER,
    flags: ["--idle-minutes", "0.05"],
    state: "failed",
    code: "agent-idle-limit",
  },
  "the completion clock": {
    script: `${GOOD_AGENT}\n${FOREVER}`,
    flags: ["--completion-minutes", "0.03"],
    state: "ready",
  },
  "the limit on the disk": {
    script: `head -c 3000000 /dev/urandom > big; ${FOREVER}`,
    flags: ["--disk", "1m"],
    state: "failed",
    code: "disk-limit",
  },
  "Ctrl-C": { script: FOREVER, act: signal("SIGINT"), state: "interrupted" },
  "Ctrl-C twice": { script: FOREVER, act: twice, state: "running" },
  SIGTERM: { script: FOREVER, act: signal("SIGTERM"), state: "interrupted" },
  "guardloop stop": {
    script: FOREVER,
    act: (world) => world.guardloop(["stop", "@last"]),
    state: "interrupted",
  },
  "guardloop stop --now": {
    script: FOREVER,
    act: (world) => world.guardloop(["stop", "@last", "--now"]),
    state: "interrupted",
  },
};

describe.each(["scripted", "docker"] as const)("on the %s engine", (engine) => {
  // In a container the guest cannot be found by its number.
  const cases = Object.entries(ENDINGS).filter(
    ([, { code }]) => engine === "scripted" || code !== "agent-killed",
  );
  test.each(cases)("after %s no program and no container of a run is left", async (_name, at) => {
    using world = makeWorld(engine);
    const before = checkoutDigest(world);
    const started = await startedRun(world, `${LITTER} ${at.script}`, at.flags);
    await at.act?.(world, started);
    await started.ended;
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: at.state, ...(at.code && { failure: { code: at.code } }) });
    if (at.state === "running") await world.guardloop(["recover"]);
    expect(engine === "docker" ? dockerContainersOf(run?.id ?? "") : "").toBe("");
    expect(leftovers(world)).toEqual([]);
    await expectNoProgramLeft(world);
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
  });
});
