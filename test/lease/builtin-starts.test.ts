import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Git } from "../../src/git/git.ts";
import type { Lease, LeasePool } from "../../src/lease/port.ts";
import { good } from "./expectations.ts";
import { openBuiltin } from "./open-pool.ts";
import { type SampleRepository, sampleRepository } from "./sample-repository.ts";

/** A pool whose every start of git is written down as its subcommand. */
function watchedPool(): {
  readonly repository: SampleRepository;
  readonly pool: LeasePool;
  /** The starts of git while this is done. */
  readonly during: (act: () => Promise<unknown>) => Promise<readonly string[]>;
} {
  const repository = sampleRepository();
  const starts: string[] = [];
  const git: Git = {
    exec: (args, options) => {
      starts.push(args.find((word, at) => word !== "-C" && args[at - 1] !== "-C") ?? "");
      return repository.git.exec(args, options);
    },
  };
  const during = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    starts.length = 0;
    await act();
    return [...starts];
  };
  return { repository, pool: openBuiltin({ ...repository, git }), during };
}

async function leaseOnce(pool: LeasePool, base: string): Promise<Lease> {
  const lease = good(await pool.acquire({ holder: "guardloop:before", base }));
  good(await pool.release(lease));
  return lease;
}

/** Two questions, the second of them twice over at the same time. */
const LOOK = ["rev-parse", "status", "ls-files"];

describe("the starts of git for a lease of a worktree that is there already", () => {
  test("it is at the base: it is looked at, and nothing more", async () => {
    const { repository, pool, during } = watchedPool();
    const base = repository.head();
    await leaseOnce(pool, base);
    const acquire = () => pool.acquire({ holder: "guardloop:one", base });
    expect(await during(acquire)).toEqual(["rev-parse", ...LOOK]);
  });

  test("it is somewhere else: it is moved by the difference", async () => {
    const { repository, pool, during } = watchedPool();
    const { path } = await leaseOnce(pool, repository.firstCommit);
    const untouched = statSync(join(path, ".gitignore")).ctimeMs;
    const acquire = () => pool.acquire({ holder: "guardloop:one", base: repository.head() });
    expect(await during(acquire)).toEqual([
      "rev-parse",
      "rev-parse",
      "read-tree",
      "update-ref",
      ...LOOK,
    ]);
    expect(readFileSync(join(path, "README.md"), "utf8")).toBe("two\n");
    expect(statSync(join(path, ".gitignore")).ctimeMs).toBe(untouched);
  });

  test("its return looks whether there is something to clean", async () => {
    const { repository, pool, during } = watchedPool();
    const lease = good(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
    expect(await during(() => pool.release(lease))).toEqual(["rev-parse", "status"]);
  });

  test("only what is not clean is cleaned", async () => {
    const { repository, pool, during } = watchedPool();
    const lease = good(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
    writeFileSync(join(lease.path, "stray.txt"), "untracked\n");
    expect(await during(() => pool.release(lease))).toEqual([
      "rev-parse",
      "status",
      "read-tree",
      "update-ref",
      "clean",
    ]);
    expect(existsSync(join(lease.path, "stray.txt"))).toBe(false);
  });
});

describe("what somebody did to a free worktree is gone when it is leased", () => {
  const deeds: Readonly<Record<string, (repository: SampleRepository, path: string) => void>> = {
    "a change to a file that the move leaves alone": (_, path) =>
      writeFileSync(join(path, ".gitignore"), "changed\n"),
    "a change to a file that the move replaces": (_, path) =>
      writeFileSync(join(path, "README.md"), "changed\n"),
    "a change that is in the index": ({ run }, path) => {
      writeFileSync(join(path, "README.md"), "changed\n");
      run(["add", "README.md"], path);
    },
    "an untracked file in the way of a new one": ({ run }, path) => {
      run(["checkout", "--quiet", "HEAD~1"], path);
      writeFileSync(join(path, "src"), "in the way\n");
    },
    "a change that Git was told not to look at": ({ run }, path) => {
      run(["update-index", "--assume-unchanged", "README.md"], path);
      writeFileSync(join(path, "README.md"), "changed\n");
    },
    "a commit of their own": ({ run }, path) => {
      writeFileSync(join(path, "mine.txt"), "mine\n");
      run(["add", "mine.txt"], path);
      run(["commit", "--quiet", "--message", "mine"], path);
    },
  };

  test.each(
    Object.keys(deeds).flatMap((deed) => [
      [deed, "moved"] as const,
      [deed, "at the base already"] as const,
    ]),
  )("%s, %s", async (deed, where) => {
    const repository = sampleRepository();
    const pool = openBuiltin(repository);
    const { path } = await leaseOnce(pool, repository.head());
    if (where === "moved") {
      repository.write("README.md", "three\n");
      repository.write("src/more.txt", "more\n");
      repository.commit("third");
    }
    writeFileSync(join(path, "cache.log"), "ignored\n");
    deeds[deed]!(repository, path);
    const base = repository.head();
    const lease = good(await pool.acquire({ holder: "guardloop:after", base }));
    expect(lease.path).toBe(path);
    const at = (...args: readonly string[]): string => repository.run(args, path);
    expect(at("rev-parse", "HEAD")).toBe(base);
    expect(at("branch", "--show-current")).toBe("");
    expect(at("status", "--porcelain", "--untracked-files=all")).toBe("");
    expect(readFileSync(join(path, "README.md"), "utf8")).toBe(
      readFileSync(join(repository.topLevel, "README.md"), "utf8"),
    );
    expect(existsSync(join(path, "mine.txt"))).toBe(false);
    // Such a mark outlives every reset, so that worktree alone is made anew.
    expect(existsSync(join(path, "cache.log"))).toBe(!deed.includes("told not to look at"));
  });
});

test("a lease's worktree is locked with the reason, as `git worktree list` shows", async () => {
  const repository = sampleRepository();
  const pool = openBuiltin(repository);
  const base = repository.head();
  await leaseOnce(pool, base);
  const lease = good(await pool.acquire({ holder: "guardloop:one", base }));
  const listed = () => repository.run(["worktree", "list", "--porcelain"]);
  expect(listed()).toMatch(/^locked leased by guardloop:one$/m);
  good(await pool.release(lease));
  expect(listed()).not.toContain("locked");
});
