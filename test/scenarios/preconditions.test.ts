import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import {
  type CallOptions,
  GOOD_AGENT,
  type World,
  installProgram,
  makeWorld,
} from "../rig/world.ts";

const RUN = ["run", "--agent", "command"];
const AGENT = ["--", "sh", "-c", GOOD_AGENT];

/** `run` must be refused with exit 3 and a cure, and leave no sign that it was ever called. */
async function refusedUntouched(
  world: World,
  code: string,
  options: CallOptions & { readonly flags?: readonly string[] } = {},
) {
  const { flags = [], ...call } = options;
  const inventory = () =>
    existsSync(join(world.repo, ".git"))
      ? `${world.git("for-each-ref")}\n${world.git("worktree", "list")}`
      : "";
  const before = inventory();
  const said = await refuse(world, [...RUN, ...flags, ...AGENT], { code }, call);
  expect(said.cure).not.toBe("");
  expect(inventory()).toBe(before);
  expect(existsSync(world.state)).toBe(false);
  expect(world.dockerCalls().filter((one) => one.argv[0] === "run")).toEqual([]);
  return said;
}

describe("a run is refused before anything exists, naming the cure", () => {
  test("outside of a repository", async () => {
    using world = makeWorld();
    const outside = join(world.root, "elsewhere");
    mkdirSync(outside);
    const said = await refusedUntouched(world, "not-a-repository", { cwd: outside });
    expect(said.message).toContain(outside);
    expect(said.cure).toContain("git init");
  });

  test("in a bare repository", async () => {
    using world = makeWorld();
    const bare = join(world.root, "bare.git");
    world.git("clone", "-q", "--bare", world.repo, bare);
    const said = await refusedUntouched(world, "not-a-repository", { cwd: bare });
    expect(said.message).toContain("bare repository");
  });

  test("in a repository without a commit", async () => {
    using world = makeWorld();
    const fresh = join(world.root, "fresh");
    world.git("init", "-q", fresh);
    const said = await refusedUntouched(world, "no-commit", { cwd: fresh });
    expect(said.cure).toContain("Commit");
  });

  test("with a tracked change, an added file, or an untracked one; the list is shown", async () => {
    using world = makeWorld();
    world.write("src/app.txt", "changed\n");
    world.write("added.txt", "added\n");
    world.git("add", "added.txt");
    world.write("notes/idea.txt", "untracked\n");
    const said = await refusedUntouched(world, "dirty-checkout");
    expect(said.message).toContain("3 uncommitted changes");
    expect(said.details).toEqual(["A  added.txt", " M src/app.txt", "?? notes/"]);
    expect(said.cure).toMatch(/[Cc]ommit.*stash.*ignore/);
    const human = await world.guardloop([...RUN, ...AGENT]);
    expect(human.stderr).toContain("?? notes/");
  });

  test("with one untracked file, even where the user's Git hides such files", async () => {
    using world = makeWorld();
    world.git("config", "status.showUntrackedFiles", "no");
    world.write("forgotten.txt", "untracked\n");
    const said = await refusedUntouched(world, "dirty-checkout");
    expect(said.details).toEqual(["?? forgotten.txt"]);
  });

  test("with so many changes that the list is cut", async () => {
    using world = makeWorld();
    for (let number = 10; number < 40; number += 1) world.write(`file-${number}.txt`, "x");
    const said = await refusedUntouched(world, "dirty-checkout");
    expect(said.details).toHaveLength(21);
    expect(said.details.at(-1)).toBe("… and 10 more");
  });

  test("with tens of thousands of changed files", async () => {
    using world = makeWorld();
    const name = (number: number) =>
      `a-directory-with-a-rather-long-name/and-a-file-with-a-rather-long-name-${number}.txt`;
    const blob = world.git("rev-parse", "HEAD:src/app.txt");
    const entries = Array.from(
      { length: 20_000 },
      (_, number) => `100644 ${blob}\t${name(number)}\n`,
    );
    execFileSync("git", ["update-index", "--index-info"], {
      cwd: world.repo,
      env: world.env,
      input: entries.join(""),
    });
    world.git("commit", "-q", "-m", "Many files that are not on the disk");
    const said = await refusedUntouched(world, "dirty-checkout");
    expect(said.message).toContain("20000 uncommitted changes");
  });

  test("at a detached HEAD", async () => {
    using world = makeWorld();
    world.git("checkout", "-q", "--detach");
    const said = await refusedUntouched(world, "detached-head");
    expect(said.cure).toContain("Check out the branch");
  });

  test("with a branch called agent", async () => {
    using world = makeWorld();
    world.git("branch", "agent");
    const said = await refusedUntouched(world, "agent-branch-blocked");
    expect(said.cure).toContain("git branch -m agent");
  });

  test("without a task plan", async () => {
    using world = makeWorld();
    world.git("rm", "-q", "docs/TASKS.md");
    world.git("commit", "-q", "-m", "No plan");
    const said = await refusedUntouched(world, "no-task-plan");
    expect(said.message).toContain("docs/TASKS.md");
    expect(said.cure).toMatch(/guardloop init.*--plan/);
  });

  test("without a runnable task: each is shown with file, line and reason", async () => {
    using world = makeWorld();
    world.write(
      "docs/TASKS.md",
      [
        "# Plan\n",
        "## T1 — Finished\n\nStatus: done\n",
        "## T2 — Waits\n\nStatus: ready\n\nDependencies:\n- T3\n",
        "## T3 — Stuck\n\nStatus: blocked\n",
        "## T4 — Odd\n\nStatus: simmering\n",
      ].join("\n"),
    );
    world.commit("Nothing to do");
    const said = await refusedUntouched(world, "no-runnable-task");
    const table = said.details.join("\n");
    expect(table).toMatch(/^docs\/TASKS\.md:3 T1: .*done/m);
    expect(table).toMatch(/^docs\/TASKS\.md:7 T2: .*T3/m);
    expect(table).toMatch(/^docs\/TASKS\.md:14 T3: .*blocked/m);
    expect(table).toMatch(/^docs\/TASKS\.md:18 T4: .*simmering/m);
    const human = await world.guardloop([...RUN, ...AGENT]);
    expect(human.stderr).toContain("docs/TASKS.md:14 T3");
  });
});

describe("an operation that is not finished is named, and not mistaken for something else", () => {
  /** Two branches that changed the same line, so that putting them together stops. */
  function makeConflict(world: World): void {
    world.git("config", "user.name", "Ada");
    world.git("config", "user.email", "ada@example.com");
    world.git("checkout", "-q", "-b", "other");
    world.write("src/app.txt", "other\n");
    world.commit("Other");
    world.git("checkout", "-q", "main");
    world.write("src/app.txt", "main\n");
    world.commit("Main");
  }
  const stops = (world: World, ...args: readonly string[]) =>
    expect(() => world.git(...args)).toThrow(/./);

  test.each<readonly [string, (world: World) => void]>([
    ["a merge", (world) => stops(world, "merge", "other")],
    ["a rebase", (world) => stops(world, "rebase", "other")],
    ["a rebase", (world) => stops(world, "rebase", "--apply", "other")],
    ["a cherry-pick", (world) => stops(world, "cherry-pick", "other")],
    [
      "am",
      (world) => {
        const patch = world.git("format-patch", "-1", "--stdout", "other");
        writeFileSync(join(world.root, "mail"), `${patch}\n`);
        stops(world, "am", join(world.root, "mail"));
      },
    ],
    [
      "a revert",
      (world) => {
        world.write("src/app.txt", "later\n");
        world.commit("Later");
        stops(world, "revert", "--no-edit", "HEAD~1");
      },
    ],
    [
      "a bisect",
      (world) => {
        for (const text of ["1", "2", "3"]) {
          world.write("src/app.txt", text);
          world.commit(text);
        }
        world.git("bisect", "start", "HEAD", "HEAD~4");
      },
    ],
    ["a bisect", (world) => world.git("bisect", "start")],
  ])("%s", async (operation, begin) => {
    using world = makeWorld();
    makeConflict(world);
    begin(world);
    const said = await refusedUntouched(world, "operation-under-way");
    expect(said.message).toContain(operation);
    expect(said.cure).toMatch(/[Ff]inish or abort/);
  });

  test("a cherry-pick of several commits that stopped between two of them", async () => {
    using world = makeWorld();
    makeConflict(world);
    world.git("checkout", "-q", "other");
    world.write("more.txt", "more\n");
    world.commit("More");
    world.git("checkout", "-q", "main");
    stops(world, "cherry-pick", "other~1", "other");
    world.git("checkout", "-q", "HEAD", "--", ".");
    world.write("src/app.txt", "settled\n");
    world.commit("Settled by hand");
    expect(world.git("status", "--porcelain")).toBe("");
    const said = await refusedUntouched(world, "operation-under-way");
    expect(said.message).toContain("a cherry-pick");
  });
});

describe("tools that are missing or not good enough", () => {
  /** A PATH with git and a shell, and without whatever else is beside them. */
  function pathWith(world: World, ...programs: readonly string[]): string {
    const tools = join(world.root, "tools");
    mkdirSync(tools);
    for (const program of programs) {
      const real = execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim();
      symlinkSync(real, join(tools, program));
    }
    return tools;
  }

  test("docker is not on PATH", async () => {
    using world = makeWorld();
    const env = { PATH: pathWith(world, "git", "sh") };
    const said = await refusedUntouched(world, "engine-unavailable", { env });
    expect(said.message).toContain("docker is not on PATH");
    expect(said.cure).toContain("Install Docker");
  });

  test("git is not on PATH", async () => {
    using world = makeWorld();
    const env = { PATH: `${world.bin}:/nowhere` };
    const said = await refusedUntouched(world, "tool-missing", { env });
    expect(said.message).toContain("git is not on PATH");
  });

  test("a docker and a git in the working directory are never taken for the real ones", async () => {
    using world = makeWorld();
    world.write("docker", "#!/bin/sh\ntouch planted-docker-ran\n");
    world.write("git", "#!/bin/sh\ntouch planted-git-ran\n");
    execFileSync("chmod", ["+x", join(world.repo, "docker"), join(world.repo, "git")]);
    world.commit("Planted");
    const env = { PATH: `.::${pathWith(world, "git", "sh")}` };
    await refusedUntouched(world, "engine-unavailable", { env });
    expect(existsSync(join(world.repo, "planted-git-ran"))).toBe(false);
    expect(existsSync(join(world.repo, "planted-docker-ran"))).toBe(false);
  });

  test("the daemon does not answer", async () => {
    using world = makeWorld();
    world.faults({ daemonGone: true });
    const said = await refusedUntouched(world, "engine-unavailable");
    expect(said.message).toContain("Cannot connect to the Docker daemon");
    expect(said.cure).toContain("Start Docker");
  });

  test.each([
    ["Rootless Docker", ["name=seccomp,profile=default", "name=rootless", "name=cgroupns"]],
    ["userns-remap", ["name=seccomp,profile=default", "name=userns"]],
    ["seccomp", ["name=cgroupns"]],
  ])("%s is refused with a sentence", async (named, securityOptions) => {
    using world = makeWorld();
    world.faults({ securityOptions });
    const said = await refusedUntouched(world, "engine-unsupported");
    expect(said.message).toContain(named);
    expect(said.cure).toContain("docs/engines.md");
  });

  test("the image is missing, and is not pulled", async () => {
    using world = makeWorld();
    world.faults({ imageMissing: true });
    const said = await refusedUntouched(world, "image-missing", { flags: ["--image", "mine:1"] });
    expect(said.message).toContain("mine:1");
    expect(said.cure).toContain("guardloop image build");
    expect(world.dockerCalls().some((one) => one.argv.includes("pull"))).toBe(false);
  });

  test("treehouse was asked for and is not on PATH", async () => {
    using world = makeWorld();
    const flags = ["--lease", "treehouse"];
    const said = await refusedUntouched(world, "tool-missing", { flags });
    expect(said.cure).toMatch(/treehouse 2\.2.*--lease builtin/);
  });

  test.each([
    ["v1.9.0", "older than 2.2"],
    ["v2.1.4", "older than 2.2"],
    ["v4.0.0", "v4.0.0"],
    ["v0.3.0", "another program"],
    ["treehouse version dev", "development build"],
  ])("treehouse %s was asked for and is not supported", async (version, reason) => {
    using world = makeWorld();
    installProgram("treehouse.js", join(world.bin, "treehouse"));
    writeFileSync(join(world.bin, "treehouse.faults.json"), JSON.stringify({ version }));
    const flags = ["--lease", "treehouse"];
    const said = await refusedUntouched(world, "tool-unsupported", { flags });
    expect(said.message).toContain(reason);
    expect(said.cure).toContain("--lease builtin");
  });

  test("with --lease auto an old treehouse is passed over, and the run says so", async () => {
    using world = makeWorld();
    installProgram("treehouse.js", join(world.bin, "treehouse"));
    writeFileSync(join(world.bin, "treehouse.faults.json"), JSON.stringify({ version: "v2.1.0" }));
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/built-in pool.*treehouse v2\.1\.0/);
  });

  test.each([
    ["no node at all", "no node", /lacks.*node/],
    ["an old node", { node: "16.20.0", git: "git version 2.47.3" }, /node 18 or newer.*16\.20\.0/],
    ["no git", { node: "22.0.0", git: null }, /lacks.*git/],
  ])("a foreign image with %s is refused, and asked again next time", async (_, has, message) => {
    using world = makeWorld();
    world.faults({ foreignImage: true, imageHas: has });
    for (const attempt of ["first", "second"]) {
      const said = await refuse(world, [...RUN, ...AGENT], { code: "image-unsuitable" });
      expect([attempt, said.message]).toEqual([attempt, expect.stringMatching(message)]);
      expect(said.cure).toContain("guardloop image build");
    }
    // Only the question was put to the image; no agent ran and nothing of a run exists.
    const started = world.dockerCalls().filter((one) => one.argv[0] === "run");
    expect(started).toHaveLength(2);
    for (const { argv } of started)
      expect(argv.some((one) => one.startsWith("--name=guardloop-image-check-"))).toBe(true);
    expect(existsSync(join(world.state, "runs"))).toBe(false);
    expect(world.git("for-each-ref", "refs/heads/agent", "refs/guardloop")).toBe("");
  });

  test("a foreign image that has both is asked once, with the whole posture", async () => {
    using world = makeWorld();
    world.faults({ foreignImage: true });
    for (let runs = 0; runs < 2; runs += 1) {
      const ended = await world.run(GOOD_AGENT);
      expect(ending(ended)).toBe("exit 0");
    }
    const asked = world
      .dockerCalls()
      .filter((one) => one.argv.some((word) => word.startsWith("--name=guardloop-image-check-")));
    expect(asked).toHaveLength(1);
    for (const flag of ["--cap-drop=ALL", "--read-only", "--network"])
      expect(asked[0]?.argv).toContain(flag);
    expect(asked[0]?.argv.join(" ")).not.toContain("--mount");
  });

  test("a real image without node is refused", async () => {
    using world = makeWorld("docker");
    const name = `guardloop-test-empty-${process.pid}`;
    execFileSync("sh", ["-c", `tar -cf - -T /dev/null | docker import - ${name}`], {
      stdio: "ignore",
    });
    try {
      const said = await refuse(world, [...RUN, "--image", name, ...AGENT], {
        code: "image-unsuitable",
      });
      expect(said.message).toContain("node");
      expect(existsSync(join(world.state, "runs"))).toBe(false);
    } finally {
      execFileSync("docker", ["image", "rm", name], { stdio: "ignore" });
    }
  });
});

describe("what looks like an obstacle and is none", () => {
  test("ignored files, by the repository's, the clone's and the user's own rules", async () => {
    using world = makeWorld();
    world.write(".gitignore", "*.log\n");
    world.commit("Ignore logs");
    world.write(".git/info/exclude", "clone-only/\n");
    world.write("build.log", "x");
    world.write("clone-only/file", "x");
    mkdirSync(join(world.root, "config/git"), { recursive: true });
    writeFileSync(join(world.root, "config/git/ignore"), "*.swp\n");
    world.write("src/.app.txt.swp", "x");
    const ended = await world.run(GOOD_AGENT);
    expect(ending(ended)).toBe("exit 0");
  });

  test("branches below agent/, a file and a tag called agent", async () => {
    using world = makeWorld();
    world.write("agent", "a file\n");
    world.commit("A file called agent");
    world.git("branch", "agent/mine");
    world.git("tag", "agent");
    const ended = await world.run(GOOD_AGENT);
    expect(ending(ended)).toBe("exit 0");
  });

  test("an old file of a rebase in another worktree", async () => {
    using world = makeWorld();
    world.git("worktree", "add", "-q", "-b", "side", join(world.root, "side"));
    mkdirSync(join(world.repo, ".git/worktrees/side/rebase-merge"));
    const ended = await succeed(world, [...RUN, ...AGENT]);
    expect(ended.stderr).toContain("ready");
  });
});
