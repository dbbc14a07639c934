import { existsSync, readFileSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ASSIGNED_AGENT } from "../rig/several.ts";
import { ending, show, succeed } from "../rig/lifecycle.ts";
import {
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";
import { AGENT_WITH_MADE } from "../rig/setup-agent.ts";

/** Makes what a package manager would: a directory that Git ignores, and a link in it. */
const INSTALL =
  "mkdir -p node_modules/dep && cp package.json node_modules/dep/ && ln -s dep node_modules/alias";
/** Fails where the agent does not find it. */
const USES_IT = `test -f node_modules/alias/package.json\n${ASSIGNED_AGENT}`;

function project(world: World): void {
  world.write("package.json", '{"name":"shop"}\n');
  world.write(".gitignore", "node_modules/\n");
  world.commit("A project with dependencies");
}

function runSetup(world: World, setup: string, more: readonly string[] = [], agent = USES_IT) {
  return world.run(`set -e\n${agent}`, ["--setup", setup, ...more]);
}

/** Calls of the engine for setup containers. */
function setupContainers(world: World): readonly (readonly string[])[] {
  return world
    .dockerCalls()
    .map(({ argv }) => argv)
    .filter((argv) => argv[0] === "run" && argv.some((one) => /^--name=.*-setup$/.test(one)));
}

function results(world: World): readonly string[] {
  const setups = join(world.state, "setup");
  return (existsSync(setups) ? readdirSync(setups) : []).flatMap((id) => {
    const directory = join(setups, id, "results");
    return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
  });
}

async function stagesOf(world: World): Promise<readonly string[]> {
  const shown = await succeed(world, ["show", "@last", "--json"]);
  const { stages } = JSON.parse(shown.stdout) as { readonly stages: readonly { stage: string }[] };
  return stages.map(({ stage }) => stage);
}

describe("a run with setup commands", () => {
  test("has their result in its snapshot and in its validation, and nothing of it in its commits", async () => {
    using world = makeWorld();
    project(world);
    const before = checkoutDigest(world);
    const ended = await runSetup(world, INSTALL, [
      "--validate",
      "deps: test -f node_modules/alias/package.json",
    ]);
    expect(ending(ended)).toBe("exit 0");
    const { run } = await show(world);
    const files = world.git("diff", "--name-only", run.base, run.head ?? "").split("\n");
    expect(files).toEqual(["T1.txt", "docs/TASKS.md"]);
    expect(await stagesOf(world)).toContain("setup");
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(leftovers(world)).toEqual([]);
    const manifest = JSON.parse(
      readFileSync(join(world.state, "runs", run.id, "snapshot-manifest.json"), "utf8"),
    );
    expect(manifest.setup).toMatchObject({ files: 1, links: 1, passedOver: 0 });
  });

  test("uses the kept result again, until a lockfile is another one", async () => {
    using world = makeWorld();
    project(world);
    await runSetup(world, INSTALL);
    world.write("src/app.txt", "changed, and no lockfile\n");
    world.commit("Something else");
    const again = await runSetup(world, INSTALL, ["--task", "T2"]);
    expect(again.stderr).toContain("is used again");
    expect(setupContainers(world)).toHaveLength(1);
    world.write("package.json", '{"name":"shop2"}\n');
    world.commit("Another dependency");
    await runSetup(world, INSTALL, ["--task", "T2"]);
    expect(setupContainers(world)).toHaveLength(2);
    expect(results(world)).toHaveLength(2);
  });

  test("has no stage setup in its journal when there are no commands", async () => {
    using world = makeWorld();
    expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
    expect(await stagesOf(world)).not.toContain("setup");
    expect(existsSync(join(world.state, "setup"))).toBe(false);
  });

  test("gives its container no network, no variable of the user's and no engine of a model", async () => {
    using world = makeWorld();
    project(world);
    const bridge = ["--network", "bridge", "--pass-env", "WANTED"];
    await world.run(USES_IT, ["--setup", INSTALL, ...bridge], { env: { WANTED: "x" } });
    const [argv] = setupContainers(world);
    expect(argv).toContain("--cap-drop=ALL");
    expect(argv).toContain("--read-only");
    expect(argv?.join(" ")).toContain("--network none");
    expect(argv).not.toContain("--env=WANTED");
    expect(argv?.join(" ")).not.toContain("model.sock");
    expect(argv?.join(" ")).toContain("target=/guardloop/proxy.sock");
  });
});

describe("what is kept", () => {
  test("is never swept into a commit, ignored by Git or not; what the agent commits itself stays", async () => {
    using world = makeWorld();
    world.write("package.json", "{}\n");
    world.commit("Without a .gitignore");
    const agent = `${GOOD_AGENT}
test -f deps/a && echo more > deps/b && echo mine > own.txt
# A .gitignore of the agent's outranks every pattern of ours.
printf '!/deps/\\n!/deps/**\\n' > .gitignore
git add -f deps/a && git -c user.name=A -c user.email=a@b.invalid commit -q -m "Part"`;
    const ended = await runSetup(
      world,
      "mkdir deps && echo a > deps/a && echo c > deps/c",
      [],
      agent,
    );
    expect(ending(ended)).toBe("exit 0");
    const { run } = await show(world);
    const files = world.git("diff", "--name-only", run.base, run.head ?? "").split("\n");
    expect(files).toEqual([".gitignore", "T1.txt", "deps/a", "docs/TASKS.md", "own.txt"]);
  });
});

describe("a setup that fails", () => {
  test("ends the run before the agent, says which command, its status and last words, and keeps nothing", async () => {
    using world = makeWorld();
    project(world);
    const before = checkoutDigest(world);
    const ended = await runSetup(world, INSTALL, ["--setup", "echo no such package >&2; exit 7"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("  no such package\n");
    const [run] = await runsOf(world);
    expect(run?.failure).toMatchObject({ stage: "setup", code: "setup-failed" });
    expect(run?.failure?.message).toBe(
      "Setup command 2 of 2 (echo no such package >&2; exit 7) ended with status 7.",
    );
    expect(results(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
    const log = await succeed(world, ["logs", "@last", "--setup"]);
    expect(log.stdout).toContain("no such package");
    // The next one begins anew.
    expect(ending(await runSetup(world, INSTALL))).toBe("exit 0");
  });

  test("names the hosts that were refused to it, and where to allow them", async () => {
    using world = makeWorld();
    project(world);
    const ask = `node -e 'require("http").request({host:"127.0.0.1",port:new URL(process.env.HTTPS_PROXY).port,method:"CONNECT",path:"registry.example.org:443"}).on("connect",(r)=>{console.log(r.statusMessage);process.exit(3)}).end()'`;
    const ended = await runSetup(world, ask);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run?.failure?.message).toContain(
      "ended with status 3. The commands were refused registry.example.org: add what they need to setup.allow_hosts.",
    );
    const log = await succeed(world, ["logs", "@last", "--setup"]);
    expect(log.stdout).toContain(
      "registry.example.org is not allowed: add it to setup.allow_hosts",
    );
    const egress = readFileSync(join(world.state, "runs", run?.id ?? "", "egress.jsonl"), "utf8");
    expect(JSON.parse(egress)).toMatchObject({
      kind: "host",
      phase: "setup",
      host: "registry.example.org",
      outcome: "refused",
    });
  });

  test("is ended at its time", async () => {
    using world = makeWorld();
    project(world);
    const ended = await runSetup(world, "sleep 100", ["--setup-minutes", "0.02"]);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run?.failure?.message).toContain("took longer than 1.2 seconds (setup.minutes)");
    expect(leftovers(world)).toEqual([]);
  });

  test("is ended by Ctrl-C, and nothing is left", async () => {
    using world = makeWorld();
    project(world);
    let pid = 0;
    const ended = await world.run(USES_IT, ["--setup", "echo begun; sleep 100"], {
      onStart: (started) => void (pid = started),
      onStderr: (text) => void (text.includes("Setup 1 of 1") && process.kill(pid, "SIGINT")),
    });
    expect(ended.code).toBe(130);
    expect((await runsOf(world)).map(({ state }) => state)).toEqual(["interrupted"]);
    expect(results(world)).toEqual([]);
    expect(leftovers(world)).toEqual([]);
  });

  test("that left more than a snapshot may grow by is refused", async () => {
    using world = makeWorld();
    project(world);
    const many = "mkdir node_modules && cd node_modules && for i in $(seq 2000); do : > $i; done";
    const ended = await runSetup(world, many, ["--files", "1000"]);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run?.failure?.code).toBe("setup-failed");
    expect(results(world)).toEqual([]);
  });
});

test("two runs at once make one result: the second waits for the first and takes it", async () => {
  using world = makeWorld();
  project(world);
  const go = join(world.root, "go");
  const setup = `while [ ! -e "${go}" ]; do sleep 0.05; done; ${INSTALL}`;
  let waiting = false;
  const first = world.run(USES_IT, ["--setup", setup, "--task", "T1"], {
    onStderr: (text) => void (text.includes("Setup 1 of 1") && second()),
  });
  let secondEnded: ReturnType<World["run"]> | undefined;
  const second = (): void => {
    secondEnded ??= world.run(USES_IT, ["--setup", setup, "--task", "T2"], {
      onStderr(text) {
        if (waiting || !text.includes("is setting up this repository; waiting for it")) return;
        waiting = true;
        world.write("../go", "");
      },
    });
  };
  expect(ending(await first)).toBe("exit 0");
  expect(ending((await secondEnded) ?? { code: null, stdout: "", stderr: "never began" })).toBe(
    "exit 0",
  );
  expect(waiting).toBe(true);
  expect(setupContainers(world)).toHaveLength(1);
  expect(results(world)).toHaveLength(1);
});

test("a stacked run takes the lockfiles of the checkout, never those of the branch it begins at, and the branch gets a finding", async () => {
  using world = makeWorld();
  project(world);
  // The result goes after the first run, so that the second, which begins at the branch, has to set up by itself.
  const agent = `set -e
grep -q shop node_modules/dep/package.json
test "$(grep -c evil node_modules/dep/package.json)" = 0
${GOOD_AGENT}
echo '{"name":"shop","evil":1}' > package.json; echo x > sub-$id.lock
rm -rf "${world.state}"/setup/*/results`;
  const ended = await world.run(agent, ["--setup", INSTALL, "--max-tasks", "2", "--keep-going"]);
  expect(ending(ended)).toBe("exit 0");
  const runs = await runsOf(world);
  expect(runs.map(({ state }) => state)).toEqual(["ready", "ready"]);
  expect(new Set(runs.map(({ base }) => base)).size).toBe(2);
  expect(setupContainers(world)).toHaveLength(2);
  const review = await world.guardloop(["review", runs.at(-1)?.id ?? "", "--json"]);
  expect(review.stdout).toContain("setup-changed");
  const { findings } = JSON.parse(review.stdout);
  expect(findings.find((one: { code: string }) => one.code === "setup-changed").paths).toEqual([
    "package.json",
  ]);
});

test("a base that has a file of its own where setup made one keeps it", async () => {
  using world = makeWorld();
  project(world);
  const ended = await world.run(`set -e\n${AGENT_WITH_MADE}`, [
    "--setup",
    "echo setup > made.txt",
    "--max-tasks",
    "2",
  ]);
  expect(ending(ended)).toBe("exit 0");
  const [second] = await runsOf(world);
  expect(world.git("show", `${second?.head}:made.txt`)).toBe("ours");
});

describe("caches", () => {
  const CACHE = ["--cache", ".cache/pm"];

  test("are written by setup and mounted read-only for the agent and the validation, over several setups", async () => {
    using world = makeWorld();
    project(world);
    const fill = `${INSTALL} && date >> "$HOME/.cache/pm/log"`;
    await runSetup(
      world,
      fill,
      [...CACHE, "--validate", 'cache: test -s "$HOME/.cache/pm/log"'],
      `test -s "$HOME/.cache/pm/log"\n${USES_IT}`,
    );
    world.write("package.json", "{}\n");
    world.commit("Another lockfile");
    const second = await runSetup(world, `test -s "$HOME/.cache/pm/log" && ${INSTALL}`, [
      ...CACHE,
      "--task",
      "T2",
    ]);
    expect(ending(second)).toBe("exit 0");
    const mounts = world
      .dockerCalls()
      .filter(({ argv }) => argv[0] === "run")
      .flatMap(({ argv }) => {
        const name = argv
          .find((one) => one.startsWith("--name="))
          ?.split("-")
          .at(-1);
        const mount = argv.find((one) => one.includes("target=/guardloop/home/.cache/pm"));
        return mount === undefined ? [] : [`${name} ${mount.includes(",readonly") ? "ro" : "rw"}`];
      });
    expect([...new Set(mounts)].toSorted()).toEqual(["agent ro", "setup rw", "validate ro"]);
  });

  test("that are inside of a directory leave that one to the user", async () => {
    using world = makeWorld();
    project(world);
    await runSetup(world, INSTALL, CACHE);
    const [argv = []] = setupContainers(world);
    expect(
      argv
        .filter((one) => one.startsWith("--tmpfs=/guardloop/home"))
        .map((one) => one.split(":")[0]),
    ).toEqual(["--tmpfs=/guardloop/home", "--tmpfs=/guardloop/home/.cache"]);
  });
});

describe("results and caches that nobody uses any more", () => {
  test("go with gc when their days are over, and not before", async () => {
    using world = makeWorld();
    project(world);
    await runSetup(world, INSTALL, ["--cache", ".pm"]);
    const [result = ""] = results(world);
    const cache = join(result, "../../caches/.pm");
    const young = await succeed(world, ["gc"]);
    expect(young.stdout).not.toContain("setup");
    const then = new Date(Date.now() - 40 * 24 * 60 * 60_000);
    for (const path of [result, cache]) utimesSync(path, then, then);
    const dry = await succeed(world, ["gc"]);
    expect(dry.stdout).toContain(`setup result ${result}`);
    expect(dry.stdout).toContain(`setup cache ${cache}`);
    expect(existsSync(result)).toBe(true);
    await succeed(world, ["gc", "--yes"]);
    expect(existsSync(result)).toBe(false);
    expect(existsSync(cache)).toBe(false);
    // A validation of a run that used it makes it again.
    const again = await succeed(world, ["gc"]);
    expect(again.stdout).not.toContain("setup");
  });
});

test("a validation afterwards makes the result again when it is gone", async () => {
  using world = makeWorld();
  project(world);
  await runSetup(world, INSTALL);
  const [result = ""] = results(world);
  world.write(
    "guardloop.toml",
    '[validate]\ncommands = ["deps: test -f node_modules/alias/package.json"]\n',
  );
  world.commit("Validate");
  rmSync(result, { recursive: true });
  await succeed(world, ["validate", "@last"]);
  expect(results(world)).toEqual([result]);
});
