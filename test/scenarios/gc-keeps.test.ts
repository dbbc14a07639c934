import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  ALL_AT_ONCE,
  AT_ONCE,
  type Gc,
  container,
  gc,
  image,
  images,
  listing,
  poolSlots,
  recordOf,
  twoAtOnce,
} from "../rig/house.ts";
import { ending, readyRun, succeed } from "../rig/lifecycle.ts";
import { FINISH, GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

describe("`gc --yes --all`, however old everything is, leaves alone", () => {
  test("the work of runs that are ready, rolled back, or failed with patches", async () => {
    using world = makeWorld();
    const rolledBack = await readyRun(world);
    await succeed(world, ["promote", rolledBack.id]);
    await succeed(world, ["rollback", rolledBack.id]);
    const ready = await readyRun(world);
    world.faults({ removeArtifacts: ["selected-task-id.txt"] });
    await world.run(`${FINISH} echo half > half.txt`);
    world.faults({});
    const [failed] = await runsOf(world);
    expect(failed?.state).toBe("failed");
    const ids = [rolledBack.id, ready.id, failed?.id ?? ""];
    const before = ids.map((id) => listing(recordOf(world, id)));
    const refs = world.git("for-each-ref");
    const done = await gc(world, "--yes", "--all", ...AT_ONCE);
    expect(ids.map((id) => listing(recordOf(world, id)))).toEqual(before);
    expect(world.git("for-each-ref")).toBe(refs);
    expect(done.items.filter(({ kind }) => !/^(worktree|base \w+)$/.test(kind))).toEqual([]);
    const why = new Map(done.kept.map((one) => [one.run, one.why]));
    expect(why.get(ready.id)).toBe("its run waits for a decision");
    expect(why.get(rolledBack.id)).toContain("rolled back");
    expect(why.get(failed?.id ?? "")).toContain("it holds work that never landed");
    await succeed(world, ["salvage", failed?.id ?? "", "--task", "T1", "--message", "Half"]);
    await succeed(world, ["promote", ready.id]);
  });

  test("a worktree with a file of somebody's, one with a commit no branch holds, one that is locked", async () => {
    using world = makeWorld();
    await twoAtOnce(world);
    const [first = "", second = ""] = poolSlots(world);
    writeFileSync(join(first, "mine.txt"), "mine");
    world.git("-C", second, "commit", "-q", "--allow-empty", "-m", "Only here");
    const before = [listing(first), listing(second)];
    const done = await gc(world, "--yes", "--all", ...AT_ONCE);
    expect([listing(first), listing(second)]).toEqual(before);
    const why = new Map(done.kept.map((one) => [one.what, one.why]));
    expect(why.get(first)).toBe('it has changes, the first is "mine.txt"');
    expect(why.get(second)).toContain("a commit that no branch holds");
    rmSync(join(first, "mine.txt"));
    world.git("worktree", "lock", first);
    world.git("branch", "keep", world.git("-C", second, "rev-parse", "HEAD"));
    const again = await gc(world, "--yes", "--all", ...AT_ONCE);
    expect(again.items.map(({ what }) => what)).toContain(second);
    expect(existsSync(first)).toBe(true);
    expect(existsSync(second)).toBe(false);
    expect(world.git("worktree", "list")).not.toContain(second);
  });

  test("a run that goes on: its snapshot, lease, container and lock; it ends as if nothing had been", async () => {
    using world = makeWorld();
    const started = join(world.root, "started");
    const wait = join(world.root, "wait");
    writeFileSync(wait, "");
    const running = world.run(
      `touch ${started}; while [ -e ${wait} ]; do sleep 0.1; done; ${GOOD_AGENT}`,
    );
    while (!existsSync(started)) await delay(50);
    const parts = ["runs", "worktrees", "locks"].map((name) => join(world.state, name));
    const before = parts.map((path) => listing(path).filter((name) => !/agent\./.test(name)));
    const containers = readdirSync(join(world.bin, "containers"));
    const done = await gc(world, "--yes", "--all", ...AT_ONCE);
    expect(done.items).toEqual([]);
    expect(parts.map((path) => listing(path).filter((name) => !/agent\./.test(name)))).toEqual(
      before,
    );
    expect(readdirSync(join(world.bin, "containers"))).toEqual(containers);
    rmSync(wait);
    expect(ending(await running)).toBe("exit 0");
    await succeed(world, ["promote", "@last"]);
  });

  test("images with a name, of others, in use or named by id; containers of another state directory", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const mine = image("11", { RepoTags: ["shop:kept"] });
    const foreign = image("22", { Config: { Labels: {} } });
    const used = image("33", { used: true });
    const named = image("44");
    images(world, [mine, foreign, used, named, image("55")]);
    container(world, "other-state", { run: run.id, state: "ffffffffffff" });
    container(world, "not-ours", { run: "somebody" });
    container(world, "left-over", { run: run.id });
    const ended = await world.guardloop([...ALL_AT_ONCE, "--json"], {
      env: { GUARD_IMAGE: named.Id },
    });
    const done = JSON.parse(ended.stdout) as Gc;
    const removed = done.items.filter(({ kind }) => kind === "image" || kind === "container");
    expect(removed.map(({ what }) => what)).toEqual(["left-over", image("55").Id]);
    const left = JSON.parse(readFileSync(join(world.bin, "docker.images.json"), "utf8"));
    expect(left).toEqual([mine, foreign, used, named]);
    expect(readdirSync(join(world.bin, "containers"))).toEqual(["not-ours", "other-state"]);
    expect(done.spared).toEqual([`image ${used.Id}`]);
  });
});
