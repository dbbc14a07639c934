import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseLeasePool } from "../../src/lease/choose.ts";
import { judgeVersion } from "../../src/lease/treehouse/version.ts";
import { bad, good } from "./expectations.ts";
import {
  type Faults,
  REPOSITORY_ID,
  installTreehouse,
  poolRootOf,
  treehouseCalls,
} from "./open-pool.ts";
import { type SampleRepository, sampleRepository } from "./sample-repository.ts";

function choose(kind: "auto" | "builtin" | "treehouse", repository: SampleRepository) {
  return chooseLeasePool(kind, {
    // Only the scripted programs: a treehouse of the machine's must not decide the test.
    env: { ...repository.env, path: `${repository.bin}:/usr/bin:/bin:${nodeDirectory()}` },
    git: repository.git,
    poolRoot: poolRootOf(repository),
    repositoryId: REPOSITORY_ID,
    repository: { topLevel: repository.topLevel, commonDir: repository.commonDir },
    treehouseDeadlineMs: 5_000,
  });
}

function nodeDirectory(): string {
  return join(process.execPath, "..");
}

function withTreehouse(faults: Faults): SampleRepository {
  const repository = sampleRepository();
  installTreehouse(repository, faults);
  return repository;
}

describe("which lease pool is taken", () => {
  test("auto takes a supported treehouse on PATH and says so", async () => {
    const pool = good(await choose("auto", withTreehouse({ version: "v2.3.0" })));
    expect(pool.kind).toBe("treehouse");
    expect(pool.description).toBe("treehouse v2.3.0");
  });

  test("auto without treehouse takes the built-in pool and says why", async () => {
    const pool = good(await choose("auto", sampleRepository()));
    expect(pool.kind).toBe("builtin");
    expect(pool.description).toBe("built-in pool (treehouse is not on PATH)");
  });

  test("auto with an unsupported treehouse takes the built-in pool and says why", async () => {
    const pool = good(await choose("auto", withTreehouse({ version: "4.0.0" })));
    expect(pool.kind).toBe("builtin");
    expect(pool.description).toBe("built-in pool (treehouse 4.0.0 on PATH is not supported)");
  });

  test("the built-in pool, when asked for, does not even look at treehouse", async () => {
    const repository = withTreehouse({ version: "v2.3.0" });
    const pool = good(await choose("builtin", repository));
    expect(pool.description).toBe("built-in pool");
    expect(treehouseCalls(repository)).toEqual([]);
  });

  test("treehouse, when asked for and missing, is an error", async () => {
    expect(bad(await choose("treehouse", sampleRepository()))).toMatchObject({
      code: "tool-missing",
      message: "treehouse is not on PATH.",
    });
  });

  test("treehouse, when asked for and unsupported, is an error", async () => {
    const failed = bad(await choose("treehouse", withTreehouse({ version: "v2.1.0" })));
    expect(failed.code).toBe("tool-unsupported");
    expect(failed.message).toContain("v2.1.0");
  });

  test("a treehouse that vanished or cannot be started is missing", async () => {
    const repository = withTreehouse({});
    const pool = good(await choose("treehouse", repository));
    rmSync(join(repository.bin, "treehouse"));
    const base = repository.head();
    expect(bad(await pool.acquire({ holder: "guardloop:one", base })).code).toBe("tool-missing");
  });

  test("both kinds lease a worktree of the same repository", async () => {
    const repository = withTreehouse({});
    const base = repository.head();
    for (const kind of ["builtin", "treehouse"] as const) {
      const pool = good(await choose(kind, repository));
      const lease = good(await pool.acquire({ holder: "guardloop:one", base }));
      expect(lease.kind).toBe(kind);
      expect(good(await pool.inspect())).toEqual([]);
    }
  });
});

describe("which treehouse versions are supported", () => {
  test.each([
    ["v2.2.0\n", 2],
    ["v2.3.0\n", 2],
    ["2.10.4\n", 2],
    ["v3.0.0\n", 3],
    ["treehouse version v3.1.0-rc.1\n", 3],
  ])("%j is", (printed, major) => {
    expect(good(judgeVersion(printed)).major).toBe(major);
  });

  test.each([
    ["v2.1.9\n", "older than 2.2"],
    ["v1.8.0\n", "older than 2.2"],
    ["treehouse 0.2.0\n", "another program"],
    ["v4.0.0\n", "not supported"],
    ["v10.0.0\n", "not supported"],
    ["dev\n", "development build"],
    ["", "printed no version"],
  ])("%j is not", (printed, words) => {
    const failed = bad(judgeVersion(printed));
    expect(failed.code).toBe("tool-unsupported");
    expect(failed.message).toContain(words);
    expect(failed.cure).toContain("--lease builtin");
  });
});
