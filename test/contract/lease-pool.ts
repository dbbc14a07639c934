import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LeasePool } from "../../src/lease/port.ts";
import { good } from "../lease/expectations.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";

/** Opens the pool of a repository; two calls are like two processes. */
export type OpenPool = (repository: SampleRepository) => Promise<LeasePool>;

/** Commit, branch (empty when detached) and changes of a worktree. */
function stateOf(repository: SampleRepository, path: string) {
  return {
    commit: repository.run(["rev-parse", "HEAD"], path),
    branch: repository.run(["branch", "--show-current"], path),
    changes: repository.run(["status", "--porcelain", "--untracked-files=all"], path),
    commonDir: repository.run(["rev-parse", "--path-format=absolute", "--git-common-dir"], path),
  };
}

function asPromised(repository: SampleRepository, commit = repository.head()) {
  return { commit, branch: "", changes: "", commonDir: repository.commonDir };
}

/** What every lease pool promises; run against each adapter. */
export function leasePoolContract(name: string, openPool: OpenPool): void {
  async function setUp() {
    const repository = sampleRepository();
    const pool = await openPool(repository);
    const acquire = async (holder = "guardloop:one", base = repository.head()) =>
      good(await pool.acquire({ holder, base }));
    return { repository, pool, acquire };
  }

  describe(`${name}: what is handed out`, () => {
    test("a lease is a clean worktree of this repository, detached at the base", async () => {
      const { repository, pool, acquire } = await setUp();
      const lease = await acquire();
      expect(lease).toMatchObject({ kind: pool.kind, holder: "guardloop:one" });
      expect(lease.id).not.toBe("");
      expect(isAbsolute(lease.path)).toBe(true);
      expect(lease.path).not.toBe(repository.topLevel);
      expect(stateOf(repository, lease.path)).toEqual(asPromised(repository));
      expect(readFileSync(join(lease.path, "README.md"), "utf8")).toBe("two\n");
    });

    test("the base may be another commit than the tip of the branch", async () => {
      const { repository, acquire } = await setUp();
      const lease = await acquire("guardloop:one", repository.firstCommit);
      expect(stateOf(repository, lease.path)).toEqual(
        asPromised(repository, repository.firstCommit),
      );
    });

    test("a worktree that was used before is moved to the new base", async () => {
      const { repository, pool, acquire } = await setUp();
      const before = await acquire();
      good(await pool.release(before));
      repository.write("README.md", "three\n");
      repository.commit("third");
      const lease = await acquire("guardloop:two");
      expect(lease.path).toBe(before.path);
      expect(lease.id).not.toBe(before.id);
      expect(stateOf(repository, lease.path)).toEqual(asPromised(repository));
    });

    test("a base that the repository does not have leases nothing", async () => {
      const { pool } = await setUp();
      const result = await pool.acquire({ holder: "guardloop:one", base: "f".repeat(40) });
      expect(result).toMatchObject({ ok: false, error: { code: "lease-failed" } });
      expect(good(await pool.find(""))).toEqual([]);
    });

    test("leasing leaves the principal checkout and its branches alone", async () => {
      const { repository, pool, acquire } = await setUp();
      const look = () => [
        repository.run(["status", "--porcelain=v2", "--branch", "--ignored"]),
        repository.run(["for-each-ref"]),
      ];
      const before = look();
      const lease = await acquire();
      good(await pool.release(lease));
      expect(look()).toEqual(before);
    });
  });

  describe(`${name}: who holds what`, () => {
    test("leases acquired at the same time are different worktrees", async () => {
      const { repository, pool } = await setUp();
      const other = await openPool(repository);
      const base = repository.head();
      const results = await Promise.all(
        [pool, other, pool, other].map((each, index) =>
          each.acquire({ holder: `guardloop:run-${index}`, base }),
        ),
      );
      const leases = results.map(good);
      expect(new Set(leases.map((lease) => lease.path)).size).toBe(4);
      expect(new Set(leases.map((lease) => lease.id)).size).toBe(4);
      for (const lease of leases)
        expect(stateOf(repository, lease.path)).toEqual(asPromised(repository));
    });

    test("the same holder asking twice gets two leases", async () => {
      const { pool, acquire } = await setUp();
      const leases = [await acquire(), await acquire()];
      expect(leases[0]!.path).not.toBe(leases[1]!.path);
      const found = good(await pool.find("guardloop:one"));
      expect(found.map((each) => each.id).toSorted()).toEqual(
        leases.map((each) => each.id).toSorted(),
      );
    });

    test("leases are found by the beginning of their holder, until they are returned", async () => {
      const { pool, acquire } = await setUp();
      expect(good(await pool.find("guardloop:"))).toEqual([]);
      const one = await acquire("guardloop:one");
      const two = await acquire("guardloop:two");
      expect(good(await pool.find("guardloop:on"))).toEqual([one]);
      expect(good(await pool.find("guardloop:"))).toHaveLength(2);
      expect(good(await pool.find("somebody"))).toEqual([]);
      good(await pool.release(one));
      expect(good(await pool.find("guardloop:"))).toEqual([two]);
    });

    test("another process finds and returns a lease", async () => {
      const { repository, pool, acquire } = await setUp();
      const lease = await acquire();
      const other = await openPool(repository);
      const [found] = good(await other.find("guardloop:one"));
      expect(found).toEqual(lease);
      expect(good(await other.release(found!))).toBe("returned");
      expect(good(await pool.find(""))).toEqual([]);
    });
  });

  describe(`${name}: giving back`, () => {
    test("a lease can be returned twice", async () => {
      const { pool, acquire } = await setUp();
      const lease = await acquire();
      expect(good(await pool.release(lease))).toBe("returned");
      expect(good(await pool.release(lease))).toBe("already-returned");
    });

    test("a late return of an old lease does not touch the new one", async () => {
      const { pool, acquire } = await setUp();
      const old = await acquire("guardloop:old");
      good(await pool.release(old));
      const current = await acquire("guardloop:new");
      expect(current.path).toBe(old.path);
      const mine = join(current.path, "work-in-progress.txt");
      writeFileSync(mine, "mine\n");
      expect(good(await pool.release(old))).toBe("already-returned");
      expect(existsSync(mine)).toBe(true);
      expect(good(await pool.find(""))).toEqual([current]);
    });

    test("ignored files stay from lease to lease, everything else goes", async () => {
      const { repository, pool, acquire } = await setUp();
      const first = await acquire();
      writeFileSync(join(first.path, "cache.log"), "ignored\n");
      writeFileSync(join(first.path, "stray.txt"), "untracked\n");
      writeFileSync(join(first.path, "README.md"), "changed\n");
      expect(good(await pool.release(first))).toBe("returned");
      expect(stateOf(repository, first.path).changes).toBe("");
      const second = await acquire("guardloop:two");
      expect(second.path).toBe(first.path);
      expect(readFileSync(join(second.path, "cache.log"), "utf8")).toBe("ignored\n");
      expect(existsSync(join(second.path, "stray.txt"))).toBe(false);
      expect(stateOf(repository, second.path)).toEqual(asPromised(repository));
    });

    test("a lease whose worktree was deleted by hand can be returned, and the next one is whole", async () => {
      const { repository, pool, acquire } = await setUp();
      const lease = await acquire();
      rmSync(lease.path, { recursive: true });
      expect(good(await pool.release(lease))).toBe("returned");
      const next = await acquire("guardloop:two");
      expect(stateOf(repository, next.path)).toEqual(asPromised(repository));
    });

    test("a lease whose .git file was deleted can be returned, and the next one is whole", async () => {
      const { repository, pool, acquire } = await setUp();
      const lease = await acquire();
      rmSync(join(lease.path, ".git"));
      expect(good(await pool.release(lease))).toBe("returned");
      const next = await acquire("guardloop:two");
      expect(stateOf(repository, next.path)).toEqual(asPromised(repository));
    });
  });

  describe(`${name}: the user's surroundings`, () => {
    test("hooks and a file system monitor of the repository never run", async () => {
      const { repository, pool, acquire } = await setUp();
      const marker = join(repository.home, "ran");
      const script = `#!/bin/sh\necho "$0" >> '${marker}'\n`;
      const hooks = join(repository.commonDir, "hooks");
      for (const hook of ["post-checkout", "post-index-change", "reference-transaction"])
        writeFileSync(join(hooks, hook), script, { mode: 0o755 });
      writeFileSync(join(repository.home, "monitor"), script, { mode: 0o755 });
      repository.configureUser("core.fsmonitor", join(repository.home, "monitor"));
      const head = readFileSync(join(repository.commonDir, "refs/heads/main"), "utf8").trim();
      const first = await acquire("guardloop:one", head);
      good(await pool.release(first));
      const second = await acquire("guardloop:two", repository.firstCommit);
      good(await pool.release(second));
      good(await pool.inspect());
      expect(existsSync(marker) ? readFileSync(marker, "utf8") : "").toBe("");
    });

    test.each([
      ["submodule.recurse", "true"],
      ["core.autocrlf", "true"],
      ["status.showUntrackedFiles", "no"],
      ["clean.requireForce", "true"],
      ["checkout.defaultRemote", "origin"],
    ])("the user's setting %s=%s does not get in the way", async (key, value) => {
      const { repository, pool, acquire } = await setUp();
      repository.configureUser(key, value);
      const first = await acquire();
      writeFileSync(join(first.path, "stray.txt"), "untracked\n");
      good(await pool.release(first));
      const second = await acquire("guardloop:two", repository.firstCommit);
      expect(second.path).toBe(first.path);
      expect(stateOf(repository, second.path).commit).toBe(repository.firstCommit);
      expect(existsSync(join(second.path, "stray.txt"))).toBe(false);
    });

    test("a sparse principal checkout gets clean leases, too", async () => {
      const { repository, pool, acquire } = await setUp();
      repository.run(["sparse-checkout", "set", "src"]);
      const first = await acquire();
      expect(stateOf(repository, first.path)).toEqual(asPromised(repository));
      good(await pool.release(first));
      expect(stateOf(repository, (await acquire()).path)).toEqual(asPromised(repository));
    });

    test("a healthy pool gives nothing to complain about", async () => {
      const { pool, acquire } = await setUp();
      expect(good(await pool.inspect())).toEqual([]);
      const lease = await acquire();
      await acquire("guardloop:two");
      good(await pool.release(lease));
      expect(good(await pool.inspect())).toEqual([]);
    });
  });
}
