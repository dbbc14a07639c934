import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { DEAD, container, listing, poolSlots } from "../rig/house.ts";
import { killedWhile } from "../rig/crash.ts";
import { ending, readyRun, succeed } from "../rig/lifecycle.ts";
import { whenGitRuns } from "../rig/scripted-git.ts";
import {
  GOOD_AGENT,
  type World,
  installProgram,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

interface Check {
  readonly name: string;
  readonly verdict: string;
  readonly text: string;
  readonly cure: string | null;
  readonly fix: string | null;
}

interface Doctor {
  readonly checks: readonly Check[];
  readonly fixed: readonly string[];
  readonly notFixed: readonly string[];
}

async function doctor(world: World, ...args: readonly string[]): Promise<Doctor> {
  const ended = await world.guardloop(["doctor", "--json", ...args], {
    env: { GUARD_AGENT: "command", GUARD_AGENT_COMMAND: "true" },
  });
  return JSON.parse(ended.stdout) as Doctor;
}

/** What is not as it should be. */
function complaints({ checks }: Doctor): readonly Check[] {
  return checks.filter(({ verdict }) => verdict !== "ok");
}

/** `doctor` names it and changes nothing; `--fix` mends it and says so; afterwards all is well. */
async function expectMended(world: World, text: RegExp, done: RegExp): Promise<void> {
  const before = listing(world.state);
  const found = await doctor(world);
  expect(listing(world.state)).toEqual(before);
  expect(complaints(found)).toEqual([
    expect.objectContaining({ text: expect.stringMatching(text), fix: expect.any(String) }),
  ]);
  const fixed = await doctor(world, "--fix");
  expect(fixed.fixed).toEqual([expect.stringMatching(done)]);
  expect(fixed.notFixed).toEqual([]);
  expect(complaints(fixed)).toEqual([]);
  expect(complaints(await doctor(world))).toEqual([]);
}

describe("`doctor` alone", () => {
  test("makes nothing where nothing is: no state directory, no history", async () => {
    using world = makeWorld();
    expect(complaints(await doctor(world))).toEqual([]);
    expect(existsSync(world.state)).toBe(false);
  });

  test("says in words what `--fix` would do", async () => {
    using world = makeWorld();
    await readyRun(world);
    chmodSync(world.state, 0o755);
    const said = (await succeed(world, ["doctor"])).stdout;
    expect(said).toMatch(/^warning state +Other users can get at the state directory .*755/m);
    expect(said).toMatch(/^ +--fix would set its mode to 700\.$/m);
    expect(said).toMatch(/^1 thing can be mended with: guardloop doctor --fix$/m);
    expect(statSync(world.state).mode & 0o777).toBe(0o755);
    const fixed = (await succeed(world, ["doctor", "--fix"])).stdout;
    expect(fixed).toMatch(/^mended +Set the mode of .* to 700\.$/m);
    expect(statSync(world.state).mode & 0o777).toBe(0o700);
  });
});

describe("`doctor --fix` mends", () => {
  test("a run whose process is dead, with its lease and its container", async () => {
    using world = makeWorld();
    await killedWhile(world, "echo half > half.txt; echo started; sleep 120");
    const found = complaints(await doctor(world));
    expect(found.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^The process of run .* is gone\.$/),
    );
    expect(found.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^Slot 1 of the pool is leased by guardloop:.*, whose process is gone/),
    );
    expect(new Set(found.map(({ fix }) => fix))).toEqual(
      new Set(["do what `guardloop recover` does"]),
    );
    const fixed = await doctor(world, "--fix");
    expect(fixed.fixed.filter((line) => /was ended: its owner died/.test(line))).toHaveLength(1);
    expect(complaints(fixed)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
    expect((await runsOf(world))[0]?.state).toBe("interrupted");
  });

  test("a container that no run owns, but not one of another state directory", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    container(world, "foreign", { run: run.id, state: "ffffffffffff" });
    container(world, "orphan", { run: run.id });
    await expectMended(world, /left-over container orphan/, /^Removed the container orphan\.$/);
    expect(readdirSync(join(world.bin, "containers"))).toEqual(["foreign"]);
  });

  test("a dead lock, and what a removal left", async () => {
    using world = makeWorld();
    await readyRun(world);
    writeFileSync(join(world.state, "locks/dead"), JSON.stringify(DEAD));
    await expectMended(world, /left-over lock .*dead/, /^Removed the lock .*dead\.$/);
    mkdirSync(join(world.state, "trash/left"), { recursive: true });
    await expectMended(world, /left-over trash .*left/, /^Removed the trash .*left\.$/);
    expect(readdirSync(join(world.state, "trash"))).toEqual([]);
  });

  test("a worktree on Git's list that is not there", async () => {
    using world = makeWorld();
    await readyRun(world);
    const [path = ""] = poolSlots(world);
    rmSync(path, { recursive: true });
    await expectMended(world, /on its list, and it is not there/, /^Took .* from Git's list\.$/);
    expect(world.git("worktree", "list")).not.toContain(path);
    expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
  });

  test("a directory of the pool that Git does not know: only when all its files are in the repository", async () => {
    using world = makeWorld();
    await readyRun(world);
    const [path = ""] = poolSlots(world);
    rmSync(join(world.repo, ".git/worktrees"), { recursive: true });
    writeFileSync(join(path, "mine.txt"), "mine");
    const fixed = await doctor(world, "--fix");
    expect(fixed.fixed).toEqual([]);
    expect(complaints(fixed)).toEqual([
      expect.objectContaining({
        text: expect.stringContaining('it has "mine.txt", whose content the repository has not'),
        cure: expect.stringContaining("Move away what you need"),
      }),
    ]);
    expect(readFileSync(join(path, "mine.txt"), "utf8")).toBe("mine");
    rmSync(join(path, "mine.txt"));
    await expectMended(
      world,
      /no worktree of this repository; all its files/,
      /^Removed the directory/,
    );
    expect(existsSync(path)).toBe(false);
  });

  test("a wedged treehouse pool, so that the next run gets its lease", async () => {
    using world = makeWorld();
    installProgram("treehouse.js", join(world.bin, "treehouse"));
    const faults = join(world.bin, "treehouse.faults.json");
    writeFileSync(faults, JSON.stringify({ wedge: true }));
    await world.run(GOOD_AGENT, ["--lease", "treehouse"]);
    writeFileSync(faults, "{}");
    expect((await runsOf(world))[0]?.failure?.code).toBe("lease-failed");
    await expectMended(
      world,
      /treehouse does not know the worktree/,
      /^Removed the worktree .*, which treehouse did not know\.$/,
    );
    expect(ending(await world.run(GOOD_AGENT, ["--lease", "treehouse"]))).toBe("exit 0");
  });

  test("a history that is damaged in its middle: it is kept aside, and the disk tells what was", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const path = join(world.state, "history.db");
    const database = new Database(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const bytes = readFileSync(path);
    for (let at = 4096; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 2000);
    writeFileSync(path, bytes);
    const found = complaints(await doctor(world));
    expect(found).toEqual([
      expect.objectContaining({ verdict: "problem", text: expect.stringContaining("is damaged") }),
    ]);
    const fixed = await doctor(world, "--fix");
    expect(fixed.fixed[0]).toMatch(/^The damaged history is kept as .*history\.db\.damaged-/);
    expect(fixed.fixed[1]).toContain(`Run ${run.id} was unknown to the history`);
    expect(complaints(fixed)).toEqual([]);
    expect(readdirSync(world.state).some((name) => name.startsWith("history.db.damaged"))).toBe(
      true,
    );
    await succeed(world, ["promote", run.id]);
  });
});

describe("`doctor` finds, and leaves to the user,", () => {
  test("a clock that is behind the last commit, or a container's that is not the host's", async () => {
    using world = makeWorld();
    execFileSync("git", ["commit", "-q", "--allow-empty", "-m", "Later"], {
      cwd: world.repo,
      env: { ...world.env, GIT_COMMITTER_DATE: "2099-01-01T00:00:00Z" },
    });
    expect(complaints(await doctor(world, "--fix"))).toEqual([
      expect.objectContaining({
        name: "clock",
        text: expect.stringMatching(
          /^The clock of this machine is behind: it says .*, and the last commit of .* is of 2099-01-01 00:00/,
        ),
        fix: null,
      }),
    ]);
    world.git("reset", "-q", "--hard", "HEAD~1");
    world.faults({ clockAheadMs: -3_600_000 });
    expect(complaints(await doctor(world))).toEqual([
      expect.objectContaining({
        name: "clock",
        text: expect.stringMatching(/^The clock in a container is .* behind this machine's/),
      }),
    ]);
  });

  test("a branch named agent, an old Git, and a state directory that is none", async () => {
    using world = makeWorld();
    world.git("branch", "agent");
    expect(complaints(await doctor(world, "--fix")).map(({ cure }) => cure)).toEqual([
      "Rename it: git branch -m agent agent-old.",
    ]);
    world.git("branch", "-m", "agent", "agent-old");
    whenGitRuns(world, "version", ["echo git version 2.30.2; exit 0"]);
    expect(complaints(await doctor(world)).map(({ cure }) => cure)).toEqual([
      "Install Git 2.39 or newer.",
    ]);
    rmSync(join(world.bin, "git"));
    mkdirSync(join(world.root, "state"), { recursive: true });
    writeFileSync(world.state, "in the way");
    expect(complaints(await doctor(world, "--fix")).map(({ text }) => text)).toEqual([
      `The state directory ${world.state} is not a directory.`,
    ]);
    renameSync(world.state, join(world.root, "aside"));
    expect(complaints(await doctor(world))).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)("a state directory that cannot be written", async () => {
    using world = makeWorld();
    mkdirSync(world.state, { recursive: true, mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro,mode=0700", "tmpfs", world.state]);
    try {
      const ended = await world.guardloop(["doctor"]);
      expect(ended.code).toBe(3);
      expect(ended.stdout).toContain(
        `Nothing can be written into the state directory ${world.state} (EROFS).`,
      );
    } finally {
      execFileSync("umount", [world.state]);
    }
  });
});
