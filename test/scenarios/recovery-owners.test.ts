import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openHistory } from "../../src/history/sqlite.ts";
import { type Owner, ownerOf } from "../../src/process/owner.ts";
import { expectCleanAfterCrash, loseHistory, workOf } from "../rig/aftermath.ts";
import { copiedAtEffects } from "../rig/crash-copies.ts";
import { leaseWorld, runArgs, stoppedAtEffect } from "../rig/effects.ts";
import { succeed } from "../rig/lifecycle.ts";
import { type World, checkoutDigest, leftovers, makeWorld, runsOf } from "../rig/world.ts";

const NOTHING = "Nothing to recover.\n";
const COLLECTED = "before journal stage-intent import#1";

/** One killed run for all of these tests: it holds a lease, a snapshot, and its lock. */
const world = leaseWorld("builtin");
const before = checkoutDigest(world);
const run = await copiedAtEffects(world, runArgs("builtin"), {
  at: /^journal stage-intent import#/,
});

afterAll(() => {
  run[Symbol.dispose]();
  world[Symbol.dispose]();
});

/** The killed run, in the record and in its lock, as if this owner had been the one. */
function killedRunOf(owner: Owner): string {
  run.restore(COLLECTED);
  const [runId = ""] = readdirSync(join(world.state, "runs"));
  const opened = openHistory(world.state, () => new Date());
  if (!opened.ok) throw new Error(opened.error.message);
  using history = opened.value;
  history.append(runId, { type: "run-adopted", owner });
  writeFileSync(join(world.state, "runs", runId, "busy"), JSON.stringify(owner));
  return runId;
}

/** Names and contents of what is below the state directory, without what merely reading changes. */
function digestOf(directory: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(directory, { recursive: true }).map(String).toSorted()) {
    if (/^history\.db|^locks/.test(name)) continue;
    hash.update(`${name}\n`);
    try {
      hash.update(readFileSync(join(directory, name)));
    } catch {
      // A directory.
    }
  }
  return hash.digest("hex");
}

const HERE = ownerOf(process.pid, hostname());

describe("a killed run is left alone, with all it has, where its owner", () => {
  test.each([
    ["is on another host", { ...HERE, pid: 2 ** 22, host: "another" }],
    ["was on another host before it started anew", { ...HERE, bootId: "x", host: "another" }],
    ["lives", HERE],
  ])("%s", async (_name, owner) => {
    killedRunOf(owner);
    const runs = await runsOf(world);
    expect(runs).toEqual([expect.objectContaining({ state: "running" })]);
    const there = digestOf(world.state);
    expect((await succeed(world, ["recover"])).stdout).toBe(NOTHING);
    expect(digestOf(world.state)).toBe(there);
    expect(await runsOf(world)).toEqual(runs);
    loseHistory(world);
    expect((await succeed(world, ["recover"])).stdout).toBe(NOTHING);
    expect(leftovers(world)).not.toEqual([]);
    expect(await runsOf(world)).toEqual([]);
  });
});

describe("a killed run is finished where its owner's number", () => {
  test.each([
    ["has gone to another process", { ...HERE, startTime: "1" }],
    ["lives, and the host has started anew since", { ...HERE, bootId: "before" }],
    ["is nobody's", { ...HERE, pid: 2 ** 22 }],
  ])("%s", async (_name, owner) => {
    const runId = killedRunOf(owner);
    expect(await recoveredWork(runId)).toBe("branch");
  });

  test("is that of a zombie", async () => {
    const { owner, parent } = await zombie();
    try {
      const runId = killedRunOf(owner);
      expect(await recoveredWork(runId)).toBe("branch");
    } finally {
      parent.kill("SIGKILL");
    }
  });
});

async function recoveredWork(runId: string): Promise<string> {
  const recovered = await succeed(world, ["recover"]);
  expect(recovered.stdout).toContain(`Run ${runId} was finished: its work is on agent/T1-${runId}`);
  const [recorded] = await expectCleanAfterCrash(world, before);
  return workOf(world, recorded);
}

/** A process that was killed, under a parent that never asks how it ended. */
async function zombie() {
  const parent = spawn("sh", ["-c", 'sleep 60 & echo "$!"; exec sleep 60'], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const pid = await new Promise<number>((resolve) =>
    parent.stdout.once("data", (text: Buffer) => resolve(Number(text.toString("utf8")))),
  );
  const owner = ownerOf(pid, hostname());
  process.kill(pid, "SIGKILL");
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(") Z ");
  return { owner, parent };
}

describe("a run that is alive, and stands still", () => {
  test.each([
    "before rename /state/guardloop/worktrees/ID/1/.lease#1",
    "before writeFile /shop/.git/worktrees/shop/locked#1",
    "before docker run guardloop-RUN-agent#1",
    "before rename /state/guardloop/runs/RUN/artifacts/manifest.json#1",
    "before git update-ref#1",
    "before unlink /state/guardloop/worktrees/ID/1/.lease/ID.returning.json#1",
  ])("%s, is not touched by `recover`, and comes to its end", async (point) => {
    using living = makeWorld();
    const clean = checkoutDigest(living);
    const stopped = await stoppedAtEffect(living, runArgs("builtin"), point);
    const there = digestOf(living.state);
    expect((await succeed(living, ["recover"])).stdout).toBe(NOTHING);
    expect(digestOf(living.state)).toBe(there);
    const ended = await stopped.goOn();
    expect([ended.code, ended.output]).toEqual([0, expect.stringContaining("ready")]);
    const [recorded] = await expectCleanAfterCrash(living, clean);
    expect(workOf(living, recorded)).toBe("branch");
  });
});

describe("two recoveries at once", () => {
  test.each([
    "before git update-ref#1",
    "before rm /shop/.git/worktrees/shop/locked#1",
    "before journal run-ready#1",
  ])("the first stands still %s: the second does nothing, and says so", async (point) => {
    run.restore(COLLECTED);
    const first = await stoppedAtEffect(world, ["recover"], point);
    const there = digestOf(world.state);
    const second = await world.guardloop(["recover"]);
    expect(second.stdout).toBe(
      `Not done: Another guardloop command (process ${first.pid}) is recovering already.\n`,
    );
    expect(second.code).toBe(1);
    expect(digestOf(world.state)).toBe(there);
    expect((await first.goOn()).code).toBe(0);
    await expectFinishedOnce(world);
  });

  test("the first is killed while the second is refused: the third finishes", async () => {
    run.restore(COLLECTED);
    const first = await stoppedAtEffect(world, ["recover"], "before git update-ref#1");
    expect((await world.guardloop(["recover"])).code).toBe(1);
    process.kill(first.pid, "SIGKILL");
    expect((await first.goOn()).signal).toBe("SIGKILL");
    await succeed(world, ["recover"]);
    await expectFinishedOnce(world);
  });
});

async function expectFinishedOnce(of: World): Promise<void> {
  const runs = await expectCleanAfterCrash(of, before);
  expect(runs).toHaveLength(1);
  expect(workOf(of, runs[0])).toBe("branch");
  expect((await succeed(of, ["recover"])).stdout).toBe(NOTHING);
}
