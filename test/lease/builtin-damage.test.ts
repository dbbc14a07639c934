import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Lease, LeasePool } from "../../src/lease/port.ts";
import { good } from "./expectations.ts";
import { builtinRootOf, openBuiltin } from "./open-pool.ts";
import { type SampleRepository, sampleRepository } from "./sample-repository.ts";

interface Scene {
  readonly repository: SampleRepository;
  readonly pool: LeasePool;
  /** A worktree that was leased once and is free now. */
  readonly free: Lease;
}

async function freeSlot(): Promise<Scene> {
  const repository = sampleRepository();
  const pool = openBuiltin(repository);
  const free = good(await pool.acquire({ holder: "guardloop:before", base: repository.head() }));
  good(await pool.release(free));
  return { repository, pool, free };
}

async function leaseAgain({ repository, pool }: Scene): Promise<Lease> {
  return good(await pool.acquire({ holder: "guardloop:after", base: repository.head() }));
}

/** Registration directory of a worktree, below the common Git directory. */
function registrationOf(path: string): string {
  return readFileSync(join(path, ".git"), "utf8")
    .replace(/^gitdir: /, "")
    .trimEnd();
}

describe("a damaged worktree of the built-in pool is made whole before it is leased", () => {
  const damages: Readonly<Record<string, (scene: Scene) => void>> = {
    "its directory was deleted": ({ free }) => rmSync(free.path, { recursive: true }),
    "its whole slot was deleted": ({ free }) => rmSync(dirname(free.path), { recursive: true }),
    "its .git file was deleted": ({ free }) => rmSync(join(free.path, ".git")),
    "its registration was deleted": ({ free }) =>
      rmSync(registrationOf(free.path), { recursive: true }),
    "its index is garbage": ({ free }) =>
      writeFileSync(join(registrationOf(free.path), "index"), "garbage"),
    "a stale index.lock is in the way": ({ free }) =>
      writeFileSync(join(registrationOf(free.path), "index.lock"), ""),
    "its HEAD is garbage": ({ free }) =>
      writeFileSync(join(registrationOf(free.path), "HEAD"), "garbage\n"),
    "a file took its place": ({ free }) => {
      rmSync(free.path, { recursive: true });
      writeFileSync(free.path, "not a directory\n");
    },
    "it was put on a branch": ({ repository, free }) =>
      void repository.run(["checkout", "--quiet", "-b", "stray"], free.path),
    "another repository took its place": ({ repository, free }) => {
      rmSync(free.path, { recursive: true });
      mkdirSync(free.path);
      repository.run(["init", "--quiet"], free.path);
    },
  };

  test.each(Object.keys(damages))("%s", async (what) => {
    const scene = await freeSlot();
    damages[what]!(scene);
    const lease = await leaseAgain(scene);
    expect(lease.path).toBe(scene.free.path);
    const { run, head, commonDir } = scene.repository;
    expect(run(["rev-parse", "HEAD"], lease.path)).toBe(head());
    expect(run(["branch", "--show-current"], lease.path)).toBe("");
    expect(run(["status", "--porcelain"], lease.path)).toBe("");
    expect(run(["rev-parse", "--path-format=absolute", "--git-common-dir"], lease.path)).toBe(
      commonDir,
    );
    expect(run(["worktree", "list", "--porcelain"]).match(/^worktree /gm)).toHaveLength(2);
  });
});

test("a branch that was checked out in a pool worktree keeps its commit", async () => {
  const scene = await freeSlot();
  const { run } = scene.repository;
  run(["checkout", "--quiet", "-b", "stray", scene.repository.firstCommit], scene.free.path);
  await leaseAgain(scene);
  expect(run(["rev-parse", "stray"])).toBe(scene.repository.firstCommit);
});

test("a repository left inside goes without costing the ignored files", async () => {
  const scene = await freeSlot();
  const nested = join(scene.free.path, "nested");
  mkdirSync(nested);
  scene.repository.run(["init", "--quiet"], nested);
  writeFileSync(join(nested, "file"), "x");
  writeFileSync(join(scene.free.path, "cache.log"), "ignored\n");
  const lease = await leaseAgain(scene);
  expect(existsSync(nested)).toBe(false);
  expect(existsSync(join(lease.path, "cache.log"))).toBe(true);
});

test("a slot without its .git file inside another repository does no harm there", async () => {
  const scene = await freeSlot();
  const outer = scene.repository.home;
  scene.repository.run(["init", "--quiet"], outer);
  writeFileSync(join(outer, "precious.txt"), "untracked work\n");
  rmSync(join(scene.free.path, ".git"));
  const sentences = good(await scene.pool.inspect());
  expect(sentences.join("\n")).toContain("is not a working Git worktree");
  await leaseAgain(scene);
  expect(existsSync(join(outer, "precious.txt"))).toBe(true);
  expect(existsSync(join(scene.repository.topLevel, ".git"))).toBe(true);
});

test("two slots never share a registration after one of them was pruned", async () => {
  const { repository, pool, free } = await freeSlot();
  const slot = dirname(free.path);
  renameSync(slot, `${slot}-away`);
  repository.run(["worktree", "prune", "--expire", "now"]);
  const base = repository.head();
  const taken = good(await pool.acquire({ holder: "guardloop:one", base }));
  renameSync(`${slot}-away`, join(builtinRootOf(repository), "2"));
  const second = good(await pool.acquire({ holder: "guardloop:two", base }));
  expect(dirname(second.path)).toBe(join(builtinRootOf(repository), "2"));
  expect(registrationOf(second.path)).not.toBe(registrationOf(taken.path));
});

test("a leased worktree whose disk is away survives the user's `git worktree prune`", async () => {
  const scene = await freeSlot();
  const lease = await leaseAgain(scene);
  const slot = dirname(lease.path);
  renameSync(slot, `${slot}-away`);
  scene.repository.run(["worktree", "prune", "--expire", "now"]);
  renameSync(`${slot}-away`, slot);
  expect(scene.repository.run(["rev-parse", "HEAD"], lease.path)).toBe(scene.repository.head());
});

test("a returned worktree can be pruned and removed by the user without force", async () => {
  const { repository, free } = await freeSlot();
  repository.run(["worktree", "remove", free.path]);
  expect(existsSync(free.path)).toBe(false);
});

test("`inspect` names a damaged free worktree and changes nothing", async () => {
  const { pool, free } = await freeSlot();
  rmSync(join(free.path, ".git"));
  const sentences = good(await pool.inspect());
  expect(sentences).toEqual([
    `The worktree ${free.path} is not a working Git worktree; the next lease of its slot makes it anew, there is nothing to do.`,
  ]);
  expect(existsSync(join(free.path, "README.md"))).toBe(true);
});

test("a linked worktree as principal checkout leases worktrees of the same repository", async () => {
  const repository = sampleRepository();
  const linked = join(repository.home, "work", "linked");
  repository.run(["worktree", "add", "--quiet", "-b", "side", linked]);
  const pool = openBuiltin({ ...repository, topLevel: linked });
  const lease = good(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
  expect(repository.run(["rev-parse", "HEAD"], lease.path)).toBe(repository.head());
});
