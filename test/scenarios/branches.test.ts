import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readHostEnvironment } from "../../src/config/environment.ts";
import type { RunEvent } from "../../src/core/events.ts";
import { openPrincipal } from "../../src/git/principal.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { type ShownRun, headOf, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, makeWorld, runsOf } from "../rig/world.ts";

const REAL_GIT = findProgram("git", "/usr/local/bin:/usr/bin:/bin") ?? "";
const LONG_AGO = new Date("2026-01-01T00:00:00Z");
const NOW_PRUNE = ["branches", "--prune", "--branch-days", "0"];

interface Listed {
  readonly branches: readonly {
    readonly ref: string;
    readonly branch: string;
    readonly run: { readonly id: string } | null;
    readonly prunable: string | null;
    readonly why: string;
  }[];
  readonly pruned: readonly { readonly run: string; readonly tip: string }[];
  readonly problems: readonly string[];
}

async function listed(world: World, ...args: readonly string[]): Promise<Listed> {
  const ended = await world.guardloop(["branches", ...args, "--json"]);
  return JSON.parse(ended.stdout) as Listed;
}

/** Writes runs into the history as if they had been, long ago: a commit on main, a branch, a decision. */
async function pastRuns(world: World) {
  const env = readHostEnvironment(world.env);
  const principal = await openPrincipal(REAL_GIT, env, world.repo);
  await world.guardloop(["runs"]);
  const history = openHistory(world.state, () => LONG_AGO);
  if (!principal.ok || !history.ok) throw new Error("the world is not as it should be");
  const { repositoryId, topLevel } = principal.value;
  let number = 0;
  const base = headOf(world);
  return {
    [Symbol.dispose]: () => history.value[Symbol.dispose](),
    append: (id: string, event: RunEvent) => history.value.append(id, event),
    add({ parentRun = null, from = base }: { parentRun?: string | null; from?: string } = {}) {
      number += 1;
      const id = `260101-000000-${String(number).padStart(5, "0")}`;
      const branch = `agent/T${number}-${id}`;
      const head = world.git("commit-tree", `${from}^{tree}`, "-p", from, "-m", `Work ${number}`);
      const owner = { pid: 1, startTime: "", bootId: "", host: "other" };
      const created = { repositoryId, topLevel, branch: "main", base: from, parentRun, owner };
      const fixed = { specHash: "", agent: "command", network: "none" } as const;
      history.value.append(id, { type: "run-created", ...created, ...fixed });
      history.value.append(id, { type: "task-selected", task: `T${number}` });
      history.value.append(id, { type: "run-ready", branch, head });
      world.git("update-ref", `refs/heads/${branch}`, head);
      return { id, branch, head, base: from };
    },
  };
}

const DECIDED = { by: "ada", why: "" };

function promotionOf(run: { readonly base: string; readonly head: string }): RunEvent {
  const rest = { ...DECIDED, accepted: [], withoutValidation: null };
  return { type: "run-promoted", how: "fast-forward", before: run.base, after: run.head, ...rest };
}

describe("the list of branches", () => {
  test("has task, run, state, size, distance, and whether a branch may go", async () => {
    using world = makeWorld();
    const run = await readyRun(world, "printf '1\\n2\\n' > more.txt");
    world.git("commit", "-q", "--allow-empty", "-m", "Mine");
    world.git("branch", "agent/mine");
    const table = (await succeed(world, ["branches"])).stdout;
    expect(table).toMatch(
      new RegExp(
        `^T1 +${run.id} +ready +.* ago +1 +3 files \\+4 -1 +1 ahead, 1 behind main +no: waits for a decision$`,
        "m",
      ),
    );
    expect(table).toMatch(
      /^- +agent\/mine +- .*no: no run of this repository is recorded for it$/m,
    );
    const { branches } = await listed(world);
    expect(branches.find((one) => one.run?.id === run.id)).toMatchObject({
      ref: `refs/heads/${run.branch}`,
      tip: run.head,
      commits: 1,
      size: { files: 3, addedLines: 4, deletedLines: 1 },
      distance: { ahead: 1, behind: 1 },
      prunable: null,
    });
  });

  test("of a repository without any says so", async () => {
    using world = makeWorld();
    expect((await succeed(world, ["branches"])).stdout).toContain("No agent has left a branch");
  });

  test("counts along merges and roots as Git does", async () => {
    using world = makeWorld();
    using past = await pastRuns(world);
    const start = headOf(world);
    const plain = past.add();
    world.git("checkout", "-q", "-b", "side");
    for (const name of ["s1", "s2"]) world.git("commit", "-q", "--allow-empty", "-m", name);
    world.git("checkout", "-q", "main");
    world.git("commit", "-q", "--allow-empty", "-m", "m1");
    const middle = past.add({ from: headOf(world) });
    world.git("merge", "-q", "--no-edit", "side");
    const late = past.add({ from: headOf(world) });
    world.git("checkout", "-q", "--orphan", "else");
    world.git("commit", "-q", "--allow-empty", "-m", "Another root");
    const unrelated = past.add({ from: headOf(world) });
    world.git("checkout", "-q", "main");
    for (const run of [plain, middle, late, unrelated]) {
      const [ahead, behind] = world
        .git("rev-list", "--left-right", "--count", `${run.head}...main`)
        .split("\t")
        .map(Number);
      const { branches } = await listed(world);
      const found = branches.find((one) => one.run?.id === run.id);
      expect(found, run.id).toMatchObject({ distance: { ahead, behind }, commits: 1 });
    }
    expect(start).not.toBe(headOf(world));
  });
});

describe("pruning", () => {
  test("takes a landed branch when its time has come, and the run's record says so", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    const early = await succeed(world, ["branches", "--prune"]);
    expect(early.stdout).toContain("Nothing to prune.");
    expect((await listed(world)).branches[0]?.why).toMatch(/^kept until \d{4}-\d\d-\d\d$/);
    const dry = await succeed(world, [...NOW_PRUNE, "--dry-run"]);
    expect(dry.stdout).toContain(`Would prune ${run.branch}: landed in main. It is at ${run.head}`);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
    const done = await succeed(world, NOW_PRUNE);
    expect(done.stdout).toContain(`Pruned ${run.branch}: landed in main. It was at ${run.head}`);
    expect(world.git("for-each-ref", "refs/heads/agent")).toBe("");
    expect(headOf(world)).toBe(run.head);
    const shown = (await show(world)) as ShownRun & { branchPruned: unknown };
    expect(shown.run.state).toBe("promoted");
    expect(shown.branchPruned).toMatchObject({ head: run.head, because: "landed" });
    expect((await succeed(world, ["show", run.id])).stdout).toContain("as landed");
    const review = (await succeed(world, ["review", run.id])).stdout;
    expect(review).toContain("+work on T1");
    expect(review).toContain("Pruned      the branch was removed on ");
    expect((await succeed(world, NOW_PRUNE)).stdout).toContain("Nothing to prune.");
  });

  test("a rollback of a pruned run brings its branch back first", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    await succeed(world, NOW_PRUNE);
    await succeed(world, ["rollback", run.id]);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
    expect(await show(world)).toMatchObject({ branchPruned: null });
    expect((await listed(world, "--prune", "--branch-days", "0")).pruned).toEqual([]);
  });

  test("takes a discarded one; restore works while Git has the commits, and then says since when not", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["discard", run.id]);
    const done = await listed(world, "--prune", "--branch-days", "0");
    expect(done.pruned).toMatchObject([{ run: run.id, tip: run.head, because: "discarded" }]);
    expect(world.git("for-each-ref", "refs/guardloop")).toBe("");
    await succeed(world, ["restore", run.id]);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
    expect(await show(world)).toMatchObject({ branchPruned: null, run: { state: "ready" } });
    await succeed(world, ["discard", run.id]);
    await succeed(world, NOW_PRUNE);
    world.git("reflog", "expire", "--expire=now", "--all");
    world.git("gc", "-q", "--prune=now");
    for (const verb of ["restore", "review"]) {
      const said = await refuse(world, [verb, run.id], { code: "not-in-this-state", status: 2 });
      expect(said.message).toMatch(/was pruned on \d{4}-\d\d-\d\d, and the commits .* are gone/);
    }
    expect((await succeed(world, ["show", run.id])).stdout).toContain(
      `the branch was at ${run.head}`,
    );
  });

  test("never takes what has not provably landed, is in use, or was touched; the table says why", async () => {
    using world = makeWorld();
    using past = await pastRuns(world);
    const landed = past.add();
    past.append(landed.id, promotionOf(landed));
    const undone = past.add();
    past.append(undone.id, promotionOf(undone));
    past.append(undone.id, {
      type: "run-rolled-back",
      how: "revert",
      before: undone.head,
      after: landed.head,
      ...DECIDED,
    });
    world.git("merge", "-q", "--ff-only", landed.head);
    // What was rolled back by reverts is still in the history of main.
    world.git("merge", "-q", "--no-edit", undone.head);
    const lost = past.add();
    past.append(lost.id, promotionOf(lost));
    const waits = past.add();
    const below = past.add({ from: landed.head });
    past.append(below.id, promotionOf(below));
    const above = past.add({ from: below.head, parentRun: below.id });
    const out = past.add({ from: landed.head });
    const moved = past.add({ from: landed.head });
    const linked = past.add({ from: landed.head });
    for (const run of [out, moved, linked]) past.append(run.id, promotionOf(run));
    for (const run of [below, out, moved, linked]) world.git("merge", "-q", "--no-edit", run.head);
    world.git("worktree", "add", "-q", join(world.root, "look"), out.branch);
    world.git("branch", "-f", moved.branch, `${moved.head}~1`);
    world.git("symbolic-ref", `refs/heads/${linked.branch}`, "refs/heads/main");
    const again = past.add();
    past.append(again.id, { type: "run-discarded", ...DECIDED });
    world.git("branch", "agent/mine");

    const { branches } = await listed(world);
    const why = Object.fromEntries(branches.map((one) => [one.run?.id ?? one.branch, one.why]));
    expect(why).toEqual({
      [landed.id]: "landed in main",
      [undone.id]: "rolled back, so it has not landed",
      [lost.id]: "what landed is not in main any more",
      [waits.id]: "waits for a decision",
      [below.id]: `run ${above.id} builds on it`,
      [above.id]: "waits for a decision",
      [out.id]: `checked out in ${join(world.root, "look")}`,
      [moved.id]: expect.stringMatching(/^moved by hand: published at \w+, now at \w+$/),
      [linked.id]: "made by hand: it points to refs/heads/main",
      [again.id]: "made again by hand after the run was discarded",
      "agent/mine": "no run of this repository is recorded for it",
    });
    expect(branches.filter((one) => one.prunable !== null).map((one) => one.run?.id)).toEqual([
      landed.id,
    ]);
    const pruned = await listed(world, "--prune");
    expect(pruned.pruned.map((one) => one.run)).toEqual([landed.id]);
    expect((await listed(world)).branches).toHaveLength(branches.length - 1);
  });

  test("what a rebase or a squash landed counts as landed, although the branch's own commits did not", async () => {
    using world = makeWorld();
    using past = await pastRuns(world);
    const run = past.add();
    world.git("commit", "-q", "--allow-empty", "-m", "Another commit with the same content");
    past.append(run.id, promotionOf({ base: run.base, head: headOf(world) }));
    expect((await listed(world, "--prune")).pruned.map((one) => one.run)).toEqual([run.id]);
  });

  test("leaves a branch that moves at the last moment, says so and records nothing", async () => {
    using world = makeWorld();
    using past = await pastRuns(world);
    const run = past.add();
    past.append(run.id, promotionOf(run));
    world.git("merge", "-q", "--ff-only", run.head);
    const git = join(world.bin, "git");
    const move = `'${REAL_GIT}' update-ref refs/heads/${run.branch} ${run.base}`;
    writeFileSync(
      git,
      `#!/bin/sh\ncase " $* " in *" update-ref --no-deref -d "*) ${move};; esac\nexec '${REAL_GIT}' "$@"\n`,
    );
    chmodSync(git, 0o755);
    const ended = await world.guardloop(["branches", "--prune"]);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain(`Not pruned: refs/heads/${run.branch} could not be deleted`);
    expect(world.git("rev-parse", run.branch)).toBe(run.base);
    expect(await show(world, run.id)).toMatchObject({ branchPruned: null });
  });

  test("is not brought forward by a repository's file that nobody trusts; it may be put off", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    world.write("guardloop.toml", "[retention]\nbranch_days = 0\n");
    world.commit("Sooner");
    const ended = await succeed(world, ["branches", "--prune"]);
    expect(ended.stdout).toContain("Nothing to prune.");
    expect(ended.stderr).toContain("retention.branch_days = 0 is not used");
    world.write("guardloop.toml", "[retention]\nbranch_days = 365\n");
    world.commit("Later");
    const until = new Date(Date.now() + 300 * 86_400_000).getFullYear();
    const [branch] = (await listed(world)).branches;
    expect(
      Number(branch?.why.slice("kept until ".length, "kept until ".length + 4)),
    ).toBeGreaterThanOrEqual(until);
  });

  test("--dry-run alone is refused as usage", async () => {
    using world = makeWorld();
    const said = await refuse(world, ["branches", "--dry-run"], { code: "usage", status: 2 });
    expect(said.message).toContain("--prune");
  });
});

test("many branches are listed with a handful of Git processes, and pruned with one each", async () => {
  using world = makeWorld();
  using past = await pastRuns(world);
  const MANY = 60;
  for (let number = 0; number < MANY; number += 1) {
    const run = past.add({ from: headOf(world) });
    if (number % 3 === 0) {
      past.append(run.id, promotionOf(run));
      world.git("merge", "-q", "--ff-only", run.head);
    }
  }
  const calls = join(world.root, "calls");
  const git = join(world.bin, "git");
  writeFileSync(git, `#!/bin/sh\necho "$*" >> '${calls}'\nexec '${REAL_GIT}' "$@"\n`);
  chmodSync(git, 0o755);
  const counted = async (...args: readonly string[]) => {
    writeFileSync(calls, "");
    const answer = await listed(world, ...args);
    return { answer, number: readFileSync(calls, "utf8").trim().split("\n").length };
  };
  const all = await counted();
  expect(all.answer.branches).toHaveLength(MANY);
  expect(all.number).toBeLessThan(20);
  const pruned = await counted("--prune");
  expect(pruned.answer.pruned).toHaveLength(MANY / 3);
  expect(pruned.number).toBeLessThan(20 + MANY / 3);
  expect(
    execFileSync(REAL_GIT, ["for-each-ref", "refs/heads/agent"], { cwd: world.repo })
      .toString()
      .trim()
      .split("\n"),
  ).toHaveLength(MANY - MANY / 3);
});

test("a stack is pruned from below only when nothing that waits builds on it", async () => {
  using world = makeWorld();
  await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
  const [top, below] = await runsOf(world);
  await succeed(world, ["promote", below?.id ?? ""]);
  expect((await listed(world, "--prune", "--branch-days", "0")).pruned).toEqual([]);
  await succeed(world, ["promote", top?.id ?? ""]);
  const { pruned } = await listed(world, "--prune", "--branch-days", "0");
  expect(new Set(pruned.map((one) => one.run))).toEqual(new Set([below?.id, top?.id]));
});
