import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, fullCircle, refuse, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, agentRuns, leftovers, makeWorld } from "../rig/world.ts";

/** A name with everything that some parser between here and the container could trip over. */
const ODD_NAME = `a, "b" 'c' ü=é $HOME #1`;

describe("a repository that would only half work is refused by name, before anything exists", () => {
  const makers: readonly (readonly [string, RegExp, RegExp, (world: World) => string])[] = [
    [
      "a shallow clone",
      /shallow/,
      /git fetch --unshallow/,
      (world) => {
        world.write("more.txt", "more\n");
        world.commit("More");
        return clone(world, "--depth", "1", `file://${world.repo}`);
      },
    ],
    [
      "a partial clone",
      /partial clone/,
      /without --filter/,
      (world) => {
        world.git("config", "uploadpack.allowFilter", "true");
        return clone(world, "--filter=blob:none", `file://${world.repo}`);
      },
    ],
    [
      "a repository with a submodule",
      /libs\/tax is a submodule/,
      /without submodules/,
      (world) => {
        world.write(".gitmodules", '[submodule "tax"]\n\tpath = libs/tax\n\turl = ../tax\n');
        mkdirSync(join(world.repo, "libs/tax"), { recursive: true });
        world.git("add", ".gitmodules");
        const entry = `160000,${world.git("rev-parse", "HEAD")},libs/tax`;
        world.git("update-index", "--add", "--cacheinfo", entry);
        world.git("commit", "-q", "-m", "Submodule");
        return world.repo;
      },
    ],
    [
      "a repository with Git LFS",
      /art\/\.gitattributes .*Git LFS/,
      /without Git LFS/,
      (world) => {
        world.write("art/.gitattributes", "# *.zip filter=lfs\n*.psd filter=lfs diff=lfs -text\n");
        world.commit("LFS");
        return world.repo;
      },
    ],
    [
      "a repository with SHA-256 object ids",
      /sha256/,
      /SHA-1/,
      (world) => {
        const repo = join(world.root, "sha256");
        world.git("init", "-q", "-b", "main", "--object-format=sha256", repo);
        world.git("-C", repo, "commit", "-q", "--allow-empty", "-m", "Start");
        return repo;
      },
    ],
    [
      "a repository whose path has a line feed",
      /shop<U\+000A>old: .* has a line feed/,
      /Rename the directory/,
      (world) => {
        const repo = join(world.root, "shop\nold");
        world.git("clone", "-q", world.repo, repo);
        return repo;
      },
    ],
  ];

  test.each(makers)("%s", async (_, message, cure, make) => {
    using world = makeWorld();
    const repo = make(world);
    const args = ["run", "--agent", "command", "--", "true"];
    const said = await refuse(world, args, { code: "unsupported-repository" }, { cwd: repo });
    expect(said.message).toMatch(message);
    expect(said.cure).toMatch(cure);
    expect(existsSync(world.state)).toBe(false);
    expect(agentRuns(world)).toEqual([]);
  });

  test("a comment about Git LFS is no Git LFS", async () => {
    using world = makeWorld();
    world.write(".gitattributes", "# *.zip filter=lfs\n*.txt text\n");
    world.commit("Attributes");
    const ended = await world.run(GOOD_AGENT);
    expect(ending(ended)).toBe("exit 0");
  });
});

function clone(world: World, ...args: readonly string[]): string {
  const target = join(world.root, "clone");
  world.git("clone", "-q", ...args, target);
  return target;
}

describe("these go the whole way: run, review, promote, rollback", () => {
  test("a linked worktree as principal", async () => {
    using world = makeWorld();
    const linked = join(world.root, "linked");
    world.git("worktree", "add", "-q", "-b", "feature", linked);
    const main = world.git("rev-parse", "main");
    const { run } = await fullCircle(world, { repo: linked });
    expect(run).toMatchObject({ onto: "feature", repository: linked });
    expect(world.git("rev-parse", "main")).toBe(main);
    await succeed(world, ["restore", run.id], { cwd: linked });
    // The other worktree is on another branch: the run was not made for it.
    const said = await refuse(world, ["promote", run.id], { code: "promote-refused" });
    expect(said.cure).toContain("Check out feature");
  });

  test("a worktree of a bare repository", async () => {
    using world = makeWorld();
    const bare = join(world.root, "bare.git");
    const linked = join(world.root, "linked");
    world.git("clone", "-q", "--bare", world.repo, bare);
    world.git("-C", bare, "worktree", "add", "-q", linked, "main");
    const { run } = await fullCircle(world, { repo: linked });
    expect(run.state).toBe("rolled-back");
  });

  test("a clone that borrows its objects from another", async () => {
    using world = makeWorld();
    const { run } = await fullCircle(world, { repo: clone(world, "--shared", world.repo) });
    expect(run.state).toBe("rolled-back");
  });

  test("a Git directory that lies elsewhere", async () => {
    using world = makeWorld();
    const gitDir = join(world.root, "git directory");
    const repo = clone(world, `--separate-git-dir=${gitDir}`, world.repo);
    const { run } = await fullCircle(world, { repo });
    expect(run.state).toBe("rolled-back");
  });

  test("a directory below the top, reached through a symbolic link", async () => {
    using world = makeWorld();
    symlinkSync(world.repo, join(world.root, "link"));
    const { run } = await fullCircle(world, { cwd: join(world.root, "link/src") });
    expect(run.state).toBe("rolled-back");
  });

  test("a sparse checkout, with work outside of it", async () => {
    using world = makeWorld();
    world.write("far/away.txt", "far\n");
    world.commit("Far");
    world.git("sparse-checkout", "set", "docs");
    expect(existsSync(join(world.repo, "far"))).toBe(false);
    const agent = `${GOOD_AGENT}\necho changed > far/away.txt; echo new > far/new.txt; cat src/app.txt`;
    const { run } = await fullCircle(world, { agent });
    // The agent saw and changed what the checkout leaves out, and the checkout still leaves it out.
    expect(world.git("show", `${run.branch}:far/new.txt`)).toBe("new");
    expect(existsSync(join(world.repo, "far"))).toBe(false);
  });

  test("attributes that make the files differ from what is stored", async () => {
    using world = makeWorld();
    world.write(
      ".gitattributes",
      "*.bat text eol=crlf\nutf16.txt text working-tree-encoding=UTF-16LE\nid.txt ident\n",
    );
    world.write("run.bat", "one\r\ntwo\r\n");
    writeFileSync(join(world.repo, "utf16.txt"), Buffer.from("zwölf\n", "utf16le"));
    world.write("id.txt", "$Id$\n");
    world.commit("Attributes");
    const { run } = await fullCircle(world);
    // Nothing but the agent's own files changed.
    expect(world.git("diff", "--name-only", run.base, run.head ?? "").split("\n")).toEqual([
      "T1.txt",
      "docs/TASKS.md",
    ]);
  });

  test("names, modes and links that are hard to carry", async () => {
    using world = makeWorld();
    const names = [
      "ü ñ.txt",
      "e\u0301.txt",
      'quote".txt',
      "tab\t.txt",
      "line\nfeed.txt",
      "-dash",
      "#x",
    ];
    for (const name of names) world.write(`odd/${name}`, `${JSON.stringify(name)}\n`);
    symlinkSync("../src/app.txt", join(world.repo, "odd/link"));
    symlinkSync("nowhere", join(world.repo, "odd/dangling"));
    world.write("tool.sh", "#!/bin/sh\n");
    world.git("add", "-A");
    world.git("update-index", "--chmod=+x", "tool.sh");
    world.git("commit", "-q", "-m", "Odd");
    world.git("checkout", "-q", "-f", "HEAD", "--", ".");
    const { run } = await fullCircle(world);
    expect(world.git("diff", "--name-only", run.base, run.head ?? "").split("\n")).toHaveLength(2);
  });

  test("merges, an empty commit, packed refs, and notes in the history", async () => {
    using world = makeWorld();
    world.git("checkout", "-q", "-b", "side");
    world.write("side.txt", "side\n");
    world.commit("Side");
    world.git("checkout", "-q", "main");
    world.git("commit", "-q", "--allow-empty", "-m", "Empty");
    world.git("merge", "-q", "--no-ff", "-m", "Merge", "side");
    world.git("notes", "add", "-m", "note");
    world.git("tag", "-a", "-m", "tag", "v1");
    world.git("pack-refs", "--all");
    const { run } = await fullCircle(world);
    expect(run.state).toBe("rolled-back");
  });

  test("a replaced commit: the run sees what is really there", async () => {
    using world = makeWorld();
    const start = world.git("rev-parse", "HEAD");
    world.write("src/app.txt", "later\n");
    const later = world.commit("Later");
    world.git("replace", later, start);
    const head = world.git("--no-replace-objects", "rev-parse", "HEAD");
    await succeed(world, ["tasks"]);
    expect(world.git("--no-replace-objects", "rev-parse", "HEAD")).toBe(head);
  });
});

describe.each(["scripted", "docker"] as const)("odd paths on the %s engine", (engine) => {
  test("of the repository and of the state directory", async () => {
    using world = makeWorld(engine);
    const repo = join(world.root, ODD_NAME, "shop, too");
    mkdirSync(dirname(repo));
    world.git("clone", "-q", world.repo, repo);
    const env = { XDG_STATE_HOME: join(world.root, `state ${ODD_NAME}`) };
    await fullCircle(world, { repo, env });
    expect(leftovers({ ...world, state: join(env.XDG_STATE_HOME, "guardloop") })).toEqual([]);
    if (engine === "docker") return;
    const mounts = (agentRuns(world)[0] ?? []).filter((one) => one.startsWith("--mount="));
    expect(mounts.length).toBeGreaterThan(3);
    for (const mount of mounts) expect(mount).toContain('a, ""b""');
  });
});

test("the record of a run names the repository by its odd path", async () => {
  using world = makeWorld();
  const repo = join(world.root, ODD_NAME);
  world.git("clone", "-q", world.repo, repo);
  await succeed(world, ["init"], { cwd: repo });
  expect(readFileSync(join(repo, "guardloop.toml"), "utf8")).toContain("[network]");
});
