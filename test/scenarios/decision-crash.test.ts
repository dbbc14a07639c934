import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_COMMIT, headOf, readyRun, show, succeed } from "../rig/lifecycle.ts";
import { KILL_GUARDLOOP, whenGitRuns } from "../rig/scripted-git.ts";
import { type World, checkoutDigest, makeWorld } from "../rig/world.ts";

type Run = Awaited<ReturnType<typeof readyRun>>;

interface Move {
  readonly name: string;
  readonly prepare: (world: World, run: Run) => Promise<unknown>;
  readonly args: (run: Run) => readonly string[];
  /** The words of the one call of git that moves the branch. */
  readonly git: string;
  readonly done: "promoted" | "rolled-back";
}

const mine = async (world: World): Promise<void> => {
  world.write("mine.txt", "mine\n");
  world.commit("Mine");
};

const MOVES: readonly Move[] = [
  {
    name: "a fast-forward",
    prepare: async () => undefined,
    args: ({ id }) => ["promote", id],
    git: "merge --ff-only",
    done: "promoted",
  },
  {
    name: "a rebase",
    prepare: mine,
    args: ({ id }) => ["promote", id, "--rebase"],
    git: "merge --ff-only",
    done: "promoted",
  },
  {
    name: "a squash",
    prepare: mine,
    args: ({ id }) => ["promote", id, "--squash"],
    git: "merge --ff-only",
    done: "promoted",
  },
  {
    name: "a rollback",
    prepare: (world, { id }) => succeed(world, ["promote", id]),
    args: ({ id }) => ["rollback", id],
    git: "reset --keep",
    done: "rolled-back",
  },
  {
    name: "a rollback by revert",
    prepare: async (world, { id }) => {
      await succeed(world, ["promote", id]);
      await mine(world);
    },
    args: ({ id }) => ["rollback", id, "--revert"],
    git: "merge --ff-only",
    done: "rolled-back",
  },
];

/** Calls a command that kills guardloop, by a signal that nothing can catch, where git does what was scripted. */
async function killed(
  world: World,
  args: readonly string[],
  at: { readonly git: string; readonly script: readonly string[] },
): Promise<void> {
  whenGitRuns(world, at.git, at.script);
  const ended = await world.guardloop(args);
  rmSync(join(world.bin, "git"));
  expect(ended.code).toBeNull();
}

async function prepared(world: World, move: Move): Promise<Run> {
  const run = await readyRun(world, `git add -A; ${AGENT_COMMIT}; echo two > two.txt`);
  await move.prepare(world, run);
  return run;
}

/** Nothing is open any more, and nothing of the attempt is left. */
async function expectSettled(world: World, run: Run): Promise<void> {
  expect((await succeed(world, ["recover"])).stdout).toBe("Nothing to recover.\n");
  expect(existsSync(join(world.state, "runs", run.id, "landing.git"))).toBe(false);
  expect(world.git("status", "--porcelain")).toBe("");
  execFileSync("git", ["fsck", "--strict"], { cwd: world.repo, env: world.env, stdio: "pipe" });
}

describe.each(MOVES)("guardloop killed in $name", (move) => {
  const BEFORE = [KILL_GUARDLOOP, "exit 1"];
  const AFTER = ['REAL "$@"', KILL_GUARDLOOP, "exit 0"];

  test("before the branch moved: nothing happened, and it can be done again", async () => {
    using world = makeWorld();
    const run = await prepared(world, move);
    const { state } = (await show(world)).run;
    const before = checkoutDigest(world);
    await killed(world, move.args(run), { git: move.git, script: BEFORE });
    await world.guardloop(["recover"]);
    expect(checkoutDigest(world)).toBe(before);
    expect((await show(world)).run.state).toBe(state);
    await expectSettled(world, run);
    await succeed(world, move.args(run));
    expect((await show(world)).run.state).toBe(move.done);
  });

  test("after the branch moved: `recover` makes up for the record, with who and why", async () => {
    using world = makeWorld();
    const run = await prepared(world, move);
    const args = [...move.args(run), "--why", "read it"];
    await killed(world, args, { git: move.git, script: AFTER });
    const after = headOf(world);
    world.git("commit", "-q", "--allow-empty", "-m", "Later");
    const recovered = await succeed(world, ["recover"]);
    expect(recovered.stdout).toMatch(/had happened before a crash; it is on record now/);
    const shown = await show(world);
    expect(shown.run.state).toBe(move.done);
    const record = move.done === "promoted" ? shown.promotion : shown.rollback;
    expect(record).toMatchObject({ after, why: "read it" });
    await expectSettled(world, run);
  });

  test("after the branch moved: the same command again says that it is done", async () => {
    using world = makeWorld();
    const run = await prepared(world, move);
    await killed(world, move.args(run), { git: move.git, script: AFTER });
    const after = headOf(world);
    const again = await succeed(world, [...move.args(run), "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ after });
    expect(headOf(world)).toBe(after);
    expect((await show(world)).run.state).toBe(move.done);
    await expectSettled(world, run);
  });
});

test("a promotion killed while its commits are made leaves nothing but what recover removes", async () => {
  using world = makeWorld();
  const run = await readyRun(world);
  await mine(world);
  const before = checkoutDigest(world);
  await killed(world, ["promote", run.id, "--rebase"], {
    git: "range-diff --no-color",
    script: [KILL_GUARDLOOP, "exit 1"],
  });
  expect(existsSync(join(world.state, "runs", run.id, "landing.git"))).toBe(true);
  const recovered = await succeed(world, ["recover"]);
  expect(recovered.stdout).toContain("Removed what an interrupted promotion");
  expect(checkoutDigest(world)).toBe(before);
  await expectSettled(world, run);
});

test("a git that outlives guardloop and lands late is found by the next command", async () => {
  using world = makeWorld();
  const run = await readyRun(world);
  await mine(world);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  // Writes down what it was to do instead of doing it.
  const late = `for word; do last=$word; done; echo "$last" > ${world.root}/late`;
  await killed(world, ["promote", run.id, "--rebase"], {
    git: "merge --ff-only",
    script: [late, KILL_GUARDLOOP, "exit 1"],
  });
  await world.guardloop(["recover"]);
  expect((await show(world)).run.state).toBe("ready");
  execFileSync("sh", ["-c", `${real} merge -q --ff-only "$(cat ${world.root}/late)"`], {
    cwd: world.repo,
    env: world.env,
  });
  await succeed(world, ["recover"]);
  expect((await show(world)).run.state).toBe("promoted");
  await succeed(world, ["rollback", run.id]);
  expect(world.git("log", "-1", "--format=%s")).toBe("Mine");
});

test("an intent of which the branch holds neither end is said, and left alone", async () => {
  using world = makeWorld();
  const run = await readyRun(world);
  await mine(world);
  await killed(world, ["promote", run.id, "--rebase"], {
    git: "merge --ff-only",
    script: [KILL_GUARDLOOP, "exit 1"],
  });
  world.git("reset", "-q", "--hard", "HEAD~1");
  const recovered = await world.guardloop(["recover"]);
  expect(recovered.code).toBe(1);
  expect(recovered.stdout).toContain("main holds neither");
  await succeed(world, ["promote", run.id]);
  await expectSettled(world, run);
});
