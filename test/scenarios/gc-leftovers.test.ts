import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AT_ONCE, DEAD, gc } from "../rig/house.ts";
import { ending, readyRun, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

describe("what belongs to no run", () => {
  test("dead locks go, those of living processes stay", async () => {
    using world = makeWorld();
    await readyRun(world);
    const locks = join(world.state, "locks");
    mkdirSync(locks, { recursive: true });
    writeFileSync(join(locks, "dead"), JSON.stringify(DEAD));
    writeFileSync(join(locks, "dead.1"), JSON.stringify(DEAD));
    const alive = { pid: process.pid, startTime: "", bootId: bootId(), host: hostname() };
    writeFileSync(join(locks, "alive"), JSON.stringify(alive));
    await succeed(world, ["gc", "--yes"]);
    expect(readdirSync(locks)).toEqual(["alive"]);
  });

  test("a history that was set aside, and the room of a killed image build, once they are old", async () => {
    using world = makeWorld();
    await succeed(world, ["runs"]);
    const aside = join(world.state, "history.db.damaged-2026");
    writeFileSync(aside, "x".repeat(5000));
    const build = join(world.state, "image-build/image-abc");
    mkdirSync(build, { recursive: true });
    expect((await gc(world)).items).toEqual([]);
    const old = new Date("2026-01-01");
    utimesSync(aside, old, old);
    utimesSync(build, old, old);
    const done = await gc(world, "--yes");
    expect(done.items.map(({ kind }) => kind).toSorted()).toEqual(["history", "image build"]);
    expect(existsSync(aside) || existsSync(build)).toBe(false);
  });

  test("refs of runs that the history does not know go only when a branch holds all of it", async () => {
    using world = makeWorld();
    await readyRun(world);
    const lost = world.git("commit-tree", "HEAD^{tree}", "-m", "Lost");
    world.git("update-ref", "refs/guardloop/discarded/260101-000000-aaaaa", "HEAD");
    world.git("update-ref", "refs/guardloop/discarded/260101-000000-bbbbb", lost);
    const done = await gc(world, "--yes", ...AT_ONCE);
    expect(done.items.filter(({ kind }) => kind === "ref").map(({ run }) => run)).toEqual([
      "260101-000000-aaaaa",
    ]);
    expect(world.git("for-each-ref", "--format=%(refname)", "refs/guardloop")).toBe(
      "refs/guardloop/discarded/260101-000000-bbbbb",
    );
  });

  test("the pool of a repository that is gone: only by hand, and only when it was not used for long", async () => {
    using world = makeWorld();
    const other = join(world.root, "other");
    execFileSync("cp", ["-r", world.repo, other]);
    expect(ending(await world.run(GOOD_AGENT, [], { cwd: other }))).toBe("exit 0");
    rmSync(other, { recursive: true });
    const recent = await gc(world);
    expect(recent.items).toEqual([]);
    expect(recent.kept.find(({ kind }) => kind === "worktree")?.why).toContain("within the last");
    const flags = ["--pool-days", "0", "--record-days", "0"];
    await world.run(GOOD_AGENT, flags);
    expect(readdirSync(join(world.state, "worktrees"))).toContain(
      pathOfPool(recent.kept.find(({ kind }) => kind === "worktree")?.what ?? ""),
    );
    const done = await gc(world, "--yes", "--pool-days", "0");
    expect(done.items.find(({ why }) => why.includes("is not there any more"))).toBeDefined();
    // The work of its run has not landed anywhere: its record is all there is.
    expect((await runsOf(world)).length).toBe(1);
    const all = (await succeed(world, ["runs", "--all"])).stdout;
    expect(all).toContain(other);
    expect(readdirSync(join(world.state, "runs")).length).toBe(2);
  });
});

function pathOfPool(path: string): string {
  return path.split("/").at(-1) ?? "";
}

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
