import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_COMMIT, ending, headOf, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { whenGitRuns } from "../rig/scripted-git.ts";
import { GOOD_AGENT, checkoutDigest, makeWorld } from "../rig/world.ts";

describe("rollback undoes exactly one promotion", () => {
  const TWO_COMMITS = `git add -A; ${AGENT_COMMIT}; echo more >> T1.txt; git rm -q src/app.txt`;

  test("by going back when nothing came after it", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world, /^refs\/heads\/agent\//);
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id]);
    const ended = await succeed(world, ["rollback", run.id, "--why", "no", "--json"]);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      how: "reset",
      before: run.head,
      after: run.base,
    });
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
    expect((await show(world)).run.state).toBe("rolled-back");
  });

  test("and the agent branch comes back where somebody deleted it: the work stays", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    world.git("branch", "-D", run.branch);
    const ended = await succeed(world, ["rollback", run.id]);
    expect(ended.stdout).toContain(`The branch ${run.branch} is still there.`);
    expect(world.git("rev-parse", run.branch)).toBe(run.head);
    await succeed(world, ["restore", run.id]);
    await succeed(world, ["promote", run.id]);
  });

  test("and a branch of that name that is at something else is left alone: a ref of ours leads to the work", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    world.git("branch", "-f", run.branch, run.base);
    await succeed(world, ["rollback", run.id]);
    expect(world.git("rev-parse", run.branch)).toBe(run.base);
    const kept = `refs/guardloop/rolled-back/${run.id}-${run.head.slice(0, 12)}`;
    expect(world.git("rev-parse", kept)).toBe(run.head);
  });

  test("and not where another branch is checked out by now", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    world.git("switch", "-q", "-c", "hotfix");
    const before = checkoutDigest(world);
    await refuse(world, ["rollback", run.id], { code: "rollback-refused" });
    expect(checkoutDigest(world)).toBe(before);
  });

  test("and refuses to lose what came after it: that is listed, and revert commits are offered", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    world.write("mine.txt", "mine\n");
    const mine = world.commit("Mine");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["rollback", run.id], { code: "rollback-refused" });
    expect(said.details).toEqual([`${mine.slice(0, 12)} Mine`]);
    expect(said.cure).toContain(`guardloop rollback ${run.id} --revert`);
    expect(checkoutDigest(world)).toBe(before);
    expect((await show(world)).run.state).toBe("promoted");
  });

  test("by revert commits where they are asked for, also when nothing came after it", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id]);
    await succeed(world, ["rollback", run.id, "--revert"]);
    expect(world.git("rev-parse", "HEAD~2")).toBe(run.head);
    expect(world.git("diff", run.base, "HEAD")).toBe("");
    expect((await show(world)).rollback).toMatchObject({ how: "revert", before: run.head });
  });

  test("by revert commits when something came after it, which stays", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id]);
    world.write("mine.txt", "mine\n");
    const mine = world.commit("Mine");
    const ended = await succeed(world, ["rollback", run.id, "--revert", "--json"]);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      how: "revert",
      before: mine,
      after: headOf(world),
    });
    expect(world.git("diff", "--name-only", run.base, "HEAD")).toBe("mine.txt");
    const reverted = world.git("log", "--reverse", "--format=%s%n%b", `${mine}..HEAD`);
    const [first = "", second = ""] = world.git("rev-list", `${run.base}..${run.head}`).split("\n");
    expect(reverted.split("\n").filter((line) => line !== "")).toEqual([
      'Revert "Do T1"',
      `This reverts commit ${first}.`,
      'Revert "Part"',
      `This reverts commit ${second}.`,
    ]);
    expect(world.git("status", "--porcelain")).toBe("");
  });

  test("revert commits bear the user's name, or guardloop's where Git knows none", async () => {
    using world = makeWorld();
    for (const known of [false, true]) {
      const run = await readyRun(world);
      await succeed(world, ["promote", run.id]);
      world.git("commit", "-q", "--allow-empty", "-m", "Later");
      world.git("config", "user.useConfigOnly", "true");
      if (known) {
        world.git("config", "user.name", "Grace");
        world.git("config", "user.email", "grace@example.com");
      }
      await succeed(world, ["rollback", run.id, "--revert"]);
      const name = known ? "Grace" : "guardloop";
      expect(world.git("log", "-1", "--format=%an, %cn")).toBe(`${name}, ${name}`);
    }
  });

  test("is refused where later work would conflict, and leaves everything as it was", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id]);
    world.write("T1.txt", "my own words\n");
    world.commit("Mine");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["rollback", run.id, "--revert"], {
      code: "rollback-refused",
    });
    expect(said.cure).toMatch(/by hand|later runs/);
    expect(said.details).toEqual([expect.stringMatching(/^[0-9a-f]{12} Do T1$/), "  T1.txt"]);
    expect(checkoutDigest(world)).toBe(before);
    for (const file of ["REVERT_HEAD", "sequencer", "MERGE_MSG"])
      expect([file, existsSync(join(world.repo, ".git", file))]).toEqual([file, false]);
    expect((await show(world)).run.state).toBe("promoted");
  });

  test("of the first of a stack leaves the second, when that is possible", async () => {
    using world = makeWorld();
    const script =
      GOOD_AGENT.replace(/awk -v id[^\n]*\n[^\n]*\n/, "") +
      'mkdir -p docs/tasks; sed -i "s/ready/done/" docs/tasks/$id.md';
    world.git("rm", "-q", "docs/TASKS.md");
    for (const id of ["A1", "A2"])
      world.write(`docs/tasks/${id}.md`, `# ${id}: Title\n\nStatus: ready\n`);
    world.commit("One file a task");
    const agent = script.replace(
      /id=\$\(awk[^\n]*\n/,
      'id=$(basename "$(grep -l "Status: ready" docs/tasks/*.md | head -n 1)" .md)\n',
    );
    const ended = await world.run(agent, ["--max-tasks", "2", "--promote", "auto"]);
    expect(ending(ended)).toBe("exit 0");
    const second = (await show(world)).run;
    await succeed(world, ["rollback", second.parentRun ?? "", "--revert"]);
    expect(existsSync(join(world.repo, "A1.txt"))).toBe(false);
    expect(existsSync(join(world.repo, "A2.txt"))).toBe(true);
    expect((await show(world)).run.state).toBe("promoted");
  });

  test("is refused on another branch, a dirty checkout and a detached HEAD", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    const obstacles: readonly (readonly [string, () => void])[] = [
      ["dirty-checkout", () => world.write("T1.txt", "changed\n")],
      ["rollback-refused", () => world.git("checkout", "-q", "-f", "-b", "other")],
      ["detached-head", () => world.git("checkout", "-q", "--detach")],
    ];
    for (const [code, disturb] of obstacles) {
      disturb();
      const before = checkoutDigest(world);
      await refuse(world, ["rollback", run.id], { code });
      expect(checkoutDigest(world)).toBe(before);
    }
  });

  test.each(["reset", "revert"])(
    "never overwrites an ignored file of the user's (by %s)",
    async (how) => {
      using world = makeWorld();
      world.write("generated/table.txt", "tracked\n");
      world.write("notes", "tracked\n");
      world.commit("Tracked");
      const run = await readyRun(
        world,
        'git rm -q -r generated notes; printf "generated/\\nnotes\\n" > .gitignore; git add -A',
      );
      await succeed(world, ["promote", run.id, "--accept", "protected-git"]);
      if (how === "revert") world.git("commit", "-q", "--allow-empty", "-m", "Later");
      world.write("generated/table.txt", "my hours of work\n");
      world.write("notes/mine.txt", "also mine\n");
      const before = checkoutDigest(world);
      const command = ["rollback", run.id, ...(how === "revert" ? ["--revert"] : [])];
      const said = await refuse(world, command, { code: "rollback-refused" });
      expect(said.details).toEqual(["generated/table.txt", "notes/mine.txt"]);
      expect(checkoutDigest(world)).toBe(before);
      rmSync(join(world.repo, "generated"), { recursive: true });
      rmSync(join(world.repo, "notes"), { recursive: true });
      await succeed(world, command);
      expect(readFileSync(join(world.repo, "notes"), "utf8")).toBe("tracked\n");
    },
  );

  test("what somebody undid already is left out; when that was all, only the record is put right", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id]);
    world.git("revert", "--no-edit", "HEAD");
    await succeed(world, ["rollback", run.id, "--revert"]);
    expect(world.git("diff", run.base, "HEAD")).toBe("");
    expect(world.git("rev-list", "--count", `${run.head}..HEAD`)).toBe("2");
    await succeed(world, ["restore", run.id]);
    await succeed(world, ["promote", run.id, "--rebase"]);
    world.git("revert", "--no-edit", "HEAD", "HEAD~1");
    const before = headOf(world);
    const ended = await succeed(world, ["rollback", run.id, "--revert"]);
    expect(ended.stdout).toContain("Nothing was left to undo");
    expect(headOf(world)).toBe(before);
    expect((await show(world)).run.state).toBe("rolled-back");
  });

  test("puts back a commit that was made at the very moment of going back", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    whenGitRuns(world, "reset --keep", [
      `test -e ${world.root}/done || { touch ${world.root}/done; REAL commit -q --allow-empty -m Meanwhile; }`,
      'exec REAL "$@"',
    ]);
    await refuse(world, ["rollback", run.id], { code: "rollback-refused" });
    rmSync(join(world.bin, "git"));
    expect(world.git("log", "-1", "--format=%s")).toBe("Meanwhile");
    expect(world.git("rev-parse", "HEAD~1")).toBe(run.head);
    expect(world.git("status", "--porcelain")).toBe("");
  });

  test("then restore and promote again, as often as one likes", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    for (const round of [1, 2]) {
      await succeed(world, ["promote", run.id]);
      expect([`round ${round}`, headOf(world)]).toEqual([`round ${round}`, run.head]);
      await succeed(world, ["rollback", run.id]);
      expect([`round ${round}`, headOf(world)]).toEqual([`round ${round}`, run.base]);
      await succeed(world, ["restore", run.id]);
      expect((await show(world)).run.state).toBe("ready");
    }
  });

  test("after the promotion was taken back by hand only the record is put right", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    await succeed(world, ["promote", run.id]);
    world.git("reset", "-q", "--hard", run.base);
    await succeed(world, ["rollback", run.id]);
    expect(headOf(world)).toBe(run.base);
    expect((await show(world)).run.state).toBe("rolled-back");
  });
});
