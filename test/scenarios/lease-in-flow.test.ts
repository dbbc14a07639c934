import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  FINISH,
  GOOD_AGENT,
  type World,
  agentRuns,
  checkoutDigest,
  installProgram,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

/** A world with the scripted treehouse first on PATH; its switches are in test/rig/treehouse.js. */
function treehouseWorld(faults: Readonly<Record<string, unknown>> = {}): World {
  const world = makeWorld();
  installProgram("treehouse.js", join(world.bin, "treehouse"));
  setTreehouse(world, faults);
  return world;
}

function setTreehouse(world: World, faults: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(world.bin, "treehouse.faults.json"), JSON.stringify(faults));
}

interface TreehouseCall {
  readonly argv: readonly string[];
  readonly cwd: string;
}

function treehouseCalls(world: World, command: string): readonly TreehouseCall[] {
  const file = join(world.bin, "treehouse.calls.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as TreehouseCall)
    .filter((call) => call.argv.includes(command));
}

interface Slot {
  readonly path: string;
  readonly lease_id: string;
  readonly lease_holder: string;
}

/** The worktrees of every treehouse pool, as treehouse itself keeps them. */
function slots(world: World): readonly Slot[] {
  const pools = join(world.state, "worktrees");
  if (!existsSync(pools)) return [];
  return readdirSync(pools, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith("treehouse-state.json"))
    .flatMap((name) => {
      const state = JSON.parse(readFileSync(join(pools, name), "utf8")) as {
        worktrees: readonly Slot[];
      };
      return state.worktrees;
    });
}

const held = (world: World): readonly Slot[] => slots(world).filter((slot) => slot.lease_id !== "");

interface Event {
  readonly event?: {
    readonly type: string;
    readonly stage?: string;
    readonly output?: { readonly lease?: { readonly id: string; readonly path: string } };
  };
}

function leasesIn(stdout: string): readonly { readonly id: string; readonly path: string }[] {
  return stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as Event).event?.output?.lease)
    .filter((lease) => lease !== undefined);
}

describe("treehouse as the pool of a run", () => {
  test("auto takes it, and says which pool it took", async () => {
    using world = treehouseWorld();
    const before = checkoutDigest(world);
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"]);
    expect(ended.stderr).toContain("Leases: treehouse v2.3.0");
    expect(ended.code).toBe(0);
    const [slot] = slots(world);
    expect(ended.stderr).toContain(slot?.path ?? "?");
    expect(held(world)).toEqual([]);
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("auto takes the built-in pool where treehouse is too old, and says why", async () => {
    using world = treehouseWorld({ version: "v1.9.0" });
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"]);
    expect(ended.stderr).toMatch(/Leases: built-in.*treehouse.*1\.9\.0/);
    expect(ended.code).toBe(0);
    expect(treehouseCalls(world, "get")).toEqual([]);
  });

  test.each([
    ["missing", undefined],
    ["too old", { version: "v1.9.0" }],
  ])("asked for by name and %s, the run is refused before anything is made", async (_, faults) => {
    using world = faults === undefined ? makeWorld() : treehouseWorld(faults);
    const before = checkoutDigest(world);
    const ended = await world.run(GOOD_AGENT, ["--lease", "treehouse"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("treehouse");
    expect(ended.stderr).toContain("--lease builtin");
    expect(await runsOf(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
  });

  test("two tasks get two leases, each acquired afresh and each returned", async () => {
    using world = treehouseWorld();
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto", "--max-tasks", "2", "--json"]);
    expect(ended.code).toBe(0);
    const ids = leasesIn(ended.stdout).map((lease) => lease.id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(treehouseCalls(world, "get")).toHaveLength(2);
    const returned = treehouseCalls(world, "return").map(({ argv }) => argv.join(" "));
    for (const id of ids) expect(returned.some((line) => line.includes(id))).toBe(true);
    expect(held(world)).toEqual([]);
    expect((await runsOf(world)).map((run) => run.state)).toEqual(["ready", "ready"]);
  });

  test("the container sees neither the leased worktree nor the pool", async () => {
    using world = treehouseWorld();
    await world.run(GOOD_AGENT, ["--lease", "auto"]);
    const [argv] = agentRuns(world);
    const [slot] = slots(world);
    expect(argv?.join(" ")).not.toContain(slot?.path ?? "?");
    expect(argv?.join(" ")).not.toContain(join(world.state, "worktrees"));
  });
});

describe("the lease is returned", () => {
  test.each([
    ["on success", GOOD_AGENT, {}, 0],
    ["when the agent leaves nothing", "true", {}, 4],
    ["when the import is refused", GOOD_AGENT, { editPatch: { from: "work on T1", to: "x" } }, 4],
    ["when the container cannot be started", GOOD_AGENT, { runRefused: true }, 1],
    [
      "when an artifact is bad",
      `${FINISH} echo nonsense > $GUARDLOOP_ARTIFACTS/selected-task-id.txt`,
      {},
      4,
    ],
  ])("%s", async (_, script, faults, code) => {
    using world = treehouseWorld();
    world.faults(faults);
    const ended = await world.run(script, ["--lease", "auto"]);
    expect(ended.code).toBe(code);
    expect(treehouseCalls(world, "get")).toHaveLength(1);
    expect(held(world)).toEqual([]);
  });

  test("when the run is interrupted", async () => {
    using world = treehouseWorld();
    let pid = 0;
    const ended = await world.run("sleep 120", ["--lease", "auto"], {
      onStart: (started) => (pid = started),
      onStderr: (text) => {
        if (text.includes("agent     works")) process.kill(pid, "SIGINT");
      },
    });
    expect(ended.code).toBe(130);
    expect(held(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });
});

describe("a treehouse that misbehaves", () => {
  test("and keeps the lease: the work is ready all the same, the run says so, recover returns it", async () => {
    // More often than one release tries.
    using world = treehouseWorld({ keepLease: 50 });
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"]);
    expect(ended.stderr).toContain("ready: agent/T1-");
    expect(ended.stderr).toMatch(/note: .*lease/i);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ state: "ready", task: "T1" });
    expect(world.git("show", `${run?.branch}:T1.txt`)).toBe("work on T1");
    expect(held(world)).toHaveLength(1);
    const shown = await world.guardloop(["show", "@last"]);
    expect(shown.stdout).toMatch(/release\s.*failed/);
    setTreehouse(world, {});
    const recovered = await world.guardloop(["recover"]);
    expect(recovered.code).toBe(0);
    expect(held(world)).toEqual([]);
  });

  test("and keeps it once: returning is tried again", async () => {
    using world = treehouseWorld({ keepLease: 1 });
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"]);
    expect(ended.code).toBe(0);
    expect(held(world)).toEqual([]);
  });

  test("and gives a worktree of another clone: refused, and nothing is done in it", async () => {
    using other = makeWorld();
    // A history of its own, whatever second it was made in.
    other.git("commit", "--quiet", "--amend", "--message", "Another start");
    other.git("reflog", "expire", "--expire=now", "--all");
    other.git("gc", "--quiet", "--prune=now");
    using world = treehouseWorld({ foreignClone: other.repo });
    const before = checkoutDigest(other);
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"]);
    expect(ended.code).toBe(1);
    expect((await runsOf(world))[0]?.failure).toMatchObject({
      stage: "lease",
      code: "lease-failed",
    });
    expect(agentRuns(world)).toEqual([]);
    expect(checkoutDigest(other)).toBe(before);
    // treehouse cannot take it back: it looks for our commit in the other clone. A person is told what to type.
    expect(held(world)).toHaveLength(1);
    expect(ended.stderr).toContain("treehouse return --root");
  });

  test.each([
    ["is full", { poolFull: true }, /all 16 worktrees are in use/],
    ["dies in the middle", { wedge: true }, /SIGKILL/],
    ["prints nonsense", { garbage: ["get"] }, /printed no lease/],
    ["hands out a dirty worktree", { dirty: "left-over.txt" }, /left-over|not clean|changes/i],
    ["points elsewhere", { outside: "/etc" }, /not below/],
  ])("and %s: the run fails by name, and no container is started", async (_, faults, says) => {
    using world = treehouseWorld(faults);
    const before = checkoutDigest(world);
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"]);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({
      state: "failed",
      failure: { stage: "lease", code: "lease-failed" },
    });
    expect(run?.failure?.message).toMatch(says);
    expect(agentRuns(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
    expect(held(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  test("and hangs on the return: interrupting ends the run, and its work is not lost", async () => {
    using world = treehouseWorld({ hang: ["return"] });
    let pid = 0;
    const ended = await world.run(GOOD_AGENT, ["--lease", "auto"], {
      onStart: (started) => (pid = started),
      onStderr: (text) => {
        // The second Ctrl-C ends the process at once.
        if (/import\s+ok/.test(text)) {
          process.kill(pid, "SIGINT");
          setTimeout(() => process.kill(pid, "SIGINT"), 500);
        }
      },
    });
    expect(ended.code).toBe(130);
    setTreehouse(world, {});
    const recovered = await world.guardloop(["recover"]);
    expect(recovered.stdout).toMatch(/was finished: its work is on agent\/T1-/);
    expect((await runsOf(world))[0]).toMatchObject({ state: "ready", task: "T1" });
    expect(held(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });
});
