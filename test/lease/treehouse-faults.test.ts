import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Lease, LeasePool } from "../../src/lease/port.ts";
import { bad, good } from "./expectations.ts";
import {
  type Faults,
  openTreehouse,
  setFaults,
  treehouseCalls,
  treehouseRootOf,
} from "./open-pool.ts";
import { type SampleRepository, sampleRepository } from "./sample-repository.ts";

async function setUp(faults: Faults = {}, deadlineMs = 30_000) {
  const repository = sampleRepository();
  const pool = good(await openTreehouse(repository, faults, deadlineMs));
  return { repository, pool };
}

function ask(repository: SampleRepository, pool: LeasePool) {
  return pool.acquire({ holder: "guardloop:one", base: repository.head() });
}

/** Sets the faults, asks for a lease that must fail, and proves that nothing stayed leased. */
async function refusedLease(faults: Faults, deadlineMs?: number) {
  const { repository, pool } = await setUp({}, deadlineMs);
  setFaults(repository, faults);
  const failed = bad(await ask(repository, pool));
  setFaults(repository, {});
  expect(good(await pool.find(""))).toEqual([]);
  expect(failed.code).toBe("lease-failed");
  return { repository, pool, failed };
}

describe("a treehouse `get` that goes wrong leases nothing", () => {
  test("the pool is full", async () => {
    const { failed } = await refusedLease({ poolFull: true, noise: true });
    expect(failed.message).toContain("max_trees");
    expect(failed.message).not.toContain("new release");
  });

  test("it refuses with a sentence of its own", async () => {
    const { failed } = await refusedLease({ fail: { get: "fatal: something odd" } });
    expect(failed.message).toBe("treehouse get ended with status 1: fatal: something odd");
  });

  test("it prints garbage although it leased", async () => {
    const { failed, repository } = await refusedLease({ garbage: ["get"] });
    expect(failed.message).toContain("printed no lease");
    expect(treehouseCalls(repository).some((call) => call.argv[0] === "return")).toBe(true);
  });

  test("it prints a path outside our pool root", async () => {
    const { failed } = await refusedLease({ outside: "/somewhere/else" });
    expect(failed.message).toContain("/somewhere/else, which is not below");
  });

  test("it prints a path that leaves our pool root by dots", async () => {
    const { repository, pool } = await setUp();
    setFaults(repository, { outside: `${treehouseRootOf(repository)}/v2/../../x` });
    expect(bad(await ask(repository, pool)).message).toContain("not below");
  });

  test("it waits for its lock for ever", async () => {
    const { failed } = await refusedLease({ hang: ["get"] }, 5_000);
    expect(failed.message).toContain("did not end in time");
  });

  test("it leases and then never ends: the lease is found by its holder and returned", async () => {
    const { failed, repository } = await refusedLease({ hangAfterLease: true }, 6_000);
    expect(failed.message).toContain("did not end in time");
    expect(treehouseCalls(repository).some((call) => call.argv[0] === "return")).toBe(true);
  });

  test("neither it nor `status` answers: the failure says that nothing is known", async () => {
    const { failed } = await refusedLease({ hang: ["get", "status"] }, 5_000);
    expect(failed.details.join("\n")).toContain("could not be looked up");
  });

  test("it is killed and leaves a worktree its state does not know", async () => {
    const { failed, repository, pool } = await refusedLease({ wedge: true });
    const cure = failed.details.join("\n").match(/git worktree remove --force (\S+)/);
    expect(cure?.[1]).toContain("/shop-");
    expect(good(await pool.inspect()).join("\n")).toContain(cure![0]);
    // 2.x trips over the directory from now on; the cure is what helps.
    expect(bad(await ask(repository, pool)).message).toContain("already exists");
    repository.run(cure![0].split(" ").slice(1));
    expect(good(await pool.inspect())).toEqual([]);
    good(await ask(repository, pool));
  });

  test("it hands out a worktree of another clone", async () => {
    const foreign = sampleRepository();
    const { failed } = await refusedLease({ foreignClone: foreign.topLevel });
    expect(failed.message).toContain("belongs to another repository");
  });

  test("it hands out a worktree that is not clean", async () => {
    const { failed } = await refusedLease({ dirty: "stray.txt" });
    expect(failed.message).toContain("stray.txt");
  });
});

describe("what treehouse hands out is put right where that is safe", () => {
  test("another commit than the base", async () => {
    const { repository, pool } = await setUp();
    setFaults(repository, { wrongBase: repository.firstCommit });
    const lease = good(await ask(repository, pool));
    expect(repository.run(["rev-parse", "HEAD"], lease.path)).toBe(repository.head());
  });

  test("a worktree on a branch", async () => {
    const { repository, pool } = await setUp({ attached: "stray" });
    const lease = good(await ask(repository, pool));
    expect(repository.run(["branch", "--show-current"], lease.path)).toBe("");
  });

  test("a base that cannot be checked out because a file of the same name is ignored there", async () => {
    const { repository, pool } = await setUp();
    const lease = good(await ask(repository, pool));
    writeFileSync(join(lease.path, "kept.log"), "ignored\n");
    good(await pool.release(lease));
    repository.write("kept.log", "tracked\n");
    repository.run(["add", "--force", "kept.log"]);
    repository.commit("track a file that was ignored");
    const again = good(await ask(repository, pool));
    expect(repository.run(["rev-parse", "HEAD"], again.path)).toBe(repository.head());
    expect(readFileSync(join(again.path, "kept.log"), "utf8")).toBe("tracked\n");
  });

  test("noise around the JSON", async () => {
    const { repository, pool } = await setUp();
    setFaults(repository, { noise: "stdout" });
    const lease = good(await ask(repository, pool));
    expect(good(await pool.find("guardloop:"))).toEqual([lease]);
  });

  test("an unreachable origin does not matter, because nothing is fetched", async () => {
    const { repository, pool } = await setUp({ fetchFailed: true });
    repository.run(["remote", "add", "origin", "/nowhere"]);
    expect(good(await ask(repository, pool)).kind).toBe("treehouse");
  });

  test("a local branch that has diverged from its origin is leased at the local commit", async () => {
    const { repository, pool } = await setUp();
    const clone = join(repository.home, "origin");
    repository.run(["clone", "--quiet", "--bare", repository.topLevel, clone]);
    repository.run(["remote", "add", "origin", clone]);
    repository.run(["commit", "--quiet", "--allow-empty", "-m", "theirs"]);
    repository.run(["push", "--quiet", "origin", "main"]);
    repository.run(["reset", "--quiet", "--hard", "HEAD~1"]);
    repository.run(["commit", "--quiet", "--allow-empty", "-m", "ours"]);
    const lease = good(await ask(repository, pool));
    expect(repository.run(["rev-parse", "HEAD"], lease.path)).toBe(repository.head());
  });
});

async function leased(): Promise<{
  readonly repository: SampleRepository;
  readonly pool: LeasePool;
  readonly lease: Lease;
}> {
  const { repository, pool } = await setUp({}, 5_000);
  return { repository, pool, lease: good(await ask(repository, pool)) };
}

function returns(repository: SampleRepository): number {
  return treehouseCalls(repository).filter((call) => call.argv[0] === "return").length;
}

describe("a treehouse `return` is believed only after `status` confirms it", () => {
  test("exit 0 with the lease kept is tried once more", async () => {
    const { repository, pool, lease } = await leased();
    setFaults(repository, { keepLease: 1 });
    expect(good(await pool.release(lease))).toBe("returned");
    expect(returns(repository)).toBe(2);
  });

  test("exit 0 with the lease kept twice fails and says what to type", async () => {
    const { repository, pool, lease } = await leased();
    setFaults(repository, { keepLease: 9 });
    const failed = bad(await pool.release(lease));
    expect(failed).toMatchObject({ code: "release-failed" });
    expect(failed.message).toContain("keeps the lease");
    expect(failed.cure).toContain(`--if-lease-id ${lease.id} ${lease.path}`);
    expect(returns(repository)).toBe(2);
  });

  test("exit 3 keeps the lease and fails", async () => {
    const { repository, pool, lease } = await leased();
    setFaults(repository, { exit3: true });
    expect(bad(await pool.release(lease)).message).toContain("status 3");
    expect(good(await pool.find("guardloop:"))).toEqual([lease]);
  });

  test("a refusal keeps the lease and fails with what treehouse said", async () => {
    const { repository, pool, lease } = await leased();
    setFaults(repository, { noise: true, fail: { return: "Error: index locked" } });
    expect(bad(await pool.release(lease)).message).toContain("Error: index locked");
  });

  test("an error after somebody else returned it counts as returned", async () => {
    const { repository, pool, lease } = await leased();
    good(await pool.release(lease));
    setFaults(repository, { fail: { return: "Error: index locked" } });
    expect(good(await pool.release(lease))).toBe("already-returned");
  });

  test.each([
    ["status", "It is not known whether"],
    ["return", "did not end in time"],
  ])("a `%s` that hangs fails the release", async (command, words) => {
    const { repository, pool, lease } = await leased();
    setFaults(repository, { hang: [command] });
    const failed = bad(await pool.release(lease));
    expect(failed).toMatchObject({ code: "release-failed" });
    expect(failed.message).toContain(words);
  });

  test("`not leased` is believed without a `status`", async () => {
    const { repository, pool, lease } = await leased();
    good(await pool.release(lease));
    setFaults(repository, { garbage: ["status"] });
    expect(good(await pool.release(lease))).toBe("already-returned");
  });

  test("a `status` that prints no pool is an error, not an empty pool", async () => {
    const { repository, pool, lease } = await leased();
    setFaults(repository, { garbage: ["status"] });
    expect(bad(await pool.find("guardloop:")).code).toBe("lease-failed");
    expect(bad(await pool.release(lease)).code).toBe("release-failed");
  });
});

describe("how treehouse is called", () => {
  test("with a built environment, in the principal checkout, with our own root", async () => {
    const { repository, pool } = await setUp();
    good(await pool.release(good(await ask(repository, pool))));
    const calls = treehouseCalls(repository);
    const root = join(treehouseRootOf(repository), "v2");
    for (const call of calls) {
      expect(call.cwd).toBe(repository.topLevel);
      expect(call.env.filter((name) => !name.startsWith("GIT_CONFIG_"))).toEqual(
        ["HOME", "LC_ALL", "PATH", "TREEHOUSE_NO_UPDATE_CHECK", "TREEHOUSE_VCS"].toSorted(),
      );
    }
    const [version, get, check, giveBack, status] = calls.map((call) => call.argv.join(" "));
    expect(version).toBe("--version");
    expect(get).toBe(`get --root ${root} --lease --json --no-fetch --lease-holder guardloop:one`);
    expect(check).toBe(`status --root ${root} --json`);
    expect(giveBack).toMatch(`return --root ${root} --force --if-lease-id `);
    expect(status).toBe(`status --root ${root} --json`);
  });

  test("a repository file cannot move the pool", async () => {
    const { repository, pool } = await setUp();
    repository.write("treehouse.toml", 'root = "/nowhere"\n');
    repository.commit("moves the pool");
    const lease = good(await ask(repository, pool));
    expect(lease.path.startsWith(join(treehouseRootOf(repository), "v2/"))).toBe(true);
  });

  test("3.x has its own root, and copies no ignored file into the worktree", async () => {
    const { repository, pool } = await setUp({ version: "v3.0.1" });
    repository.write(".worktreeinclude", "secret.log\n");
    repository.commit("wants its secret copied");
    repository.write("secret.log", "token\n");
    const lease = good(await ask(repository, pool));
    expect(lease.path.startsWith(join(treehouseRootOf(repository), "v3/"))).toBe(true);
    expect(existsSync(join(lease.path, "secret.log"))).toBe(false);
  });
});

describe("`inspect` of a treehouse pool", () => {
  test("a damaged slot is named with its cure, which works", async () => {
    const { repository, pool } = await setUp();
    const lease = good(await ask(repository, pool));
    rmSync(join(lease.path, ".git"));
    good(await pool.release(lease));
    const [sentence, ...rest] = good(await pool.inspect());
    expect(rest).toEqual([]);
    expect(sentence).toContain(`(${lease.path}) is damaged`);
    const command = /run: treehouse (.*)$/.exec(sentence!)![1]!;
    const { execFileSync } = await import("node:child_process");
    execFileSync(join(repository.bin, "treehouse"), command.split(" "), {
      cwd: repository.topLevel,
      env: { ...process.env, ...repository.env.git },
    });
    expect(good(await pool.inspect())).toEqual([]);
  });

  test("a nearly full pool is complained about", async () => {
    const { repository, pool } = await setUp();
    const base = repository.head();
    for (let number = 0; number < 14; number += 1)
      good(await pool.acquire({ holder: `guardloop:${number}`, base }));
    expect(good(await pool.inspect()).join("\n")).toContain("14 worktrees of the treehouse pool");
  });

  test("a directory that is not a worktree of the state is named", async () => {
    const { repository, pool } = await setUp();
    good(await ask(repository, pool));
    const stray = join(treehouseRootOf(repository), "v2/.treehouse/shop-aaaaaa/7/a shop");
    mkdirSync(stray, { recursive: true });
    expect(good(await pool.inspect())).toEqual([
      `treehouse does not know the worktree ${stray}, which a killed call left; in your repository run: git worktree remove --force '${stray}'`,
    ]);
  });
});
