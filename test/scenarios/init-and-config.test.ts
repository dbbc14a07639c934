import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import { type CallOptions, GOOD_AGENT, type World, agentRuns, makeWorld } from "../rig/world.ts";

interface Written {
  readonly written: readonly string[];
  readonly commit: string | null;
}

interface Shown {
  readonly settings: readonly {
    readonly key: string;
    readonly value: unknown;
    readonly origin: string;
    readonly where: string | null;
  }[];
  readonly notices: readonly string[];
}

const init = async (world: World, options: CallOptions = {}) =>
  JSON.parse((await succeed(world, ["init", "--json"], options)).stdout) as Written;

function sh(world: World, command: string, cwd = world.repo): void {
  execFileSync("sh", ["-c", command], { cwd, env: world.env, stdio: "pipe" });
}

function withoutPlan(world: World): void {
  world.git("rm", "-q", "docs/TASKS.md");
  world.git("commit", "-q", "-m", "No plan");
}

async function setting(
  world: World,
  key: string,
  flags: readonly string[] = [],
  options: CallOptions = {},
) {
  const shown = JSON.parse(
    (await succeed(world, ["config", "--json", ...flags], options)).stdout,
  ) as Shown;
  return shown.settings.find((one) => one.key === key);
}

describe("init", () => {
  test("writes settings and a plan; the printed command makes the checkout clean, and a run works", async () => {
    using world = makeWorld();
    withoutPlan(world);
    const human = await succeed(world, ["init"]);
    const command = /^ {2}(git add .*)$/m.exec(human.stdout)?.[1] ?? "";
    expect(world.git("status", "--porcelain")).not.toBe("");
    sh(world, command);
    expect(world.git("status", "--porcelain")).toBe("");
    const ended = await world.run(GOOD_AGENT);
    expect(ending(ended)).toBe("exit 0");
  });

  test("writes a file whose every line, uncommented, is a valid setting with its default", async () => {
    using world = makeWorld();
    const { commit } = await init(world);
    sh(world, `sed -i 's/^#\\([a-z_]* = \\)/\\1/' guardloop.toml && ${commit}`);
    const shown = JSON.parse((await succeed(world, ["config", "--json"])).stdout) as Shown;
    expect(shown.notices).toEqual([]);
    const origins = new Set(shown.settings.map((one) => one.origin));
    expect(origins).toEqual(new Set(["repository file"]));
  });

  test("a second time writes nothing and overwrites nothing", async () => {
    using world = makeWorld();
    await init(world);
    world.write("guardloop.toml", "# mine\n");
    expect(await init(world)).toMatchObject({ written: [], commit: null });
    expect(readFileSync(join(world.repo, "guardloop.toml"), "utf8")).toBe("# mine\n");
  });

  test("leaves a plan alone: in another shape, in another place, or not committed yet", async () => {
    using world = makeWorld();
    withoutPlan(world);
    world.write("docs/tasks/login.md", "# Log in\n\n> Status: todo\n");
    expect((await init(world)).written).toEqual(["guardloop.toml"]);
    world.git("clean", "-fdq");
    world.write("plans/now.md", "### [T-1] Now\n\n- **Status:** Pending\n");
    world.commit("A plan elsewhere");
    const env = { GUARD_PLAN: "plans/*.md" };
    expect((await init(world, { env })).written).toEqual(["guardloop.toml"]);
    expect(existsSync(join(world.repo, "docs/TASKS.md"))).toBe(false);
  });

  test("below the top it writes at the top, and the command works from there", async () => {
    using world = makeWorld();
    withoutPlan(world);
    const cwd = join(world.repo, "src");
    const { written, commit } = await init(world, { cwd });
    expect(written).toEqual(["guardloop.toml", "docs/TASKS.md"]);
    sh(world, commit ?? "", cwd);
    expect(world.git("status", "--porcelain")).toBe("");
  });

  test("the command commits those files alone, also where they are ignored", async () => {
    using world = makeWorld();
    withoutPlan(world);
    world.write(".gitignore", "docs/\n");
    world.commit("Docs are ignored");
    world.write("src/app.txt", "staged\n");
    world.git("add", "src/app.txt");
    const { commit } = await init(world);
    sh(world, commit ?? "");
    expect(world.git("show", "--format=", "--name-only", "HEAD").split("\n")).toEqual([
      "docs/TASKS.md",
      "guardloop.toml",
    ]);
    expect(world.git("status", "--porcelain")).toBe("M  src/app.txt");
    await succeed(world, ["tasks"]);
  });

  test("before the first commit it works, and outside of a repository it is refused", async () => {
    using world = makeWorld();
    const fresh = join(world.root, "fresh");
    world.git("init", "-q", "-b", "main", fresh);
    const { commit } = await init(world, { cwd: fresh });
    sh(world, commit ?? "", fresh);
    const listed = await succeed(world, ["tasks", "--json"], { cwd: fresh });
    expect((JSON.parse(listed.stdout) as { tasks: unknown[] }).tasks).toHaveLength(1);
    await refuse(world, ["init"], { code: "not-a-repository" }, { cwd: world.root });
  });
});

describe("settings", () => {
  function userFile(world: World, text: string): string {
    const directory = join(world.root, "config/guardloop");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "config.toml"), text);
    return join(directory, "config.toml");
  }

  test("flag over environment over user file over repository file over default, each with its origin", async () => {
    using world = makeWorld();
    const key = "run.max_tasks";
    expect(await setting(world, key)).toEqual({ key, value: 1, origin: "default", where: null });
    world.write("guardloop.toml", "# first\n[run]\nmax_tasks = 2\n");
    world.commit("Settings");
    expect(await setting(world, key)).toMatchObject({
      value: 2,
      origin: "repository file",
      where: expect.stringMatching(/^guardloop\.toml:3/),
    });
    const path = userFile(world, "[run]\nmax_tasks = 3\n");
    expect(await setting(world, key)).toMatchObject({
      value: 3,
      origin: "user file",
      where: expect.stringContaining(`${path}:2`),
    });
    const env = { GUARD_MAX_TASKS: "4" };
    expect(await setting(world, key, [], { env })).toMatchObject({
      value: 4,
      origin: "environment",
      where: "GUARD_MAX_TASKS",
    });
    expect(await setting(world, key, ["--max-tasks", "5"], { env })).toMatchObject({
      value: 5,
      origin: "flag",
      where: "--max-tasks",
    });
    const human = await succeed(world, ["config"], { env });
    expect(human.stdout).toMatch(/run\.max_tasks +4 +environment, GUARD_MAX_TASKS/);
  });

  test("the repository's file counts as it is committed, not as it lies there", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", "[run]\nmax_tasks = 7\n");
    expect(await setting(world, "run.max_tasks")).toMatchObject({ origin: "default" });
    world.commit("Settings");
    world.write("guardloop.toml", "[run]\nmax_tasks = 9\n");
    expect(await setting(world, "run.max_tasks")).toMatchObject({ value: 7 });
  });

  test("what loosens the boundary needs trust, and any change ends it; tightening needs none", async () => {
    using world = makeWorld();
    const file = '[network]\nmode = "bridge"\n[container]\nmemory = "1g"\n';
    world.write("guardloop.toml", file);
    world.commit("Wants a network");
    const mode = async () => (await setting(world, "network.mode"))?.value;
    expect(await mode()).toBe("none");
    expect(await setting(world, "container.memory")).toMatchObject({ value: "1g" });
    const shown = await succeed(world, ["config"]);
    expect(shown.stderr).toMatch(/guardloop\.toml:2.*network\.mode.*guardloop trust/);
    await world.run(GOOD_AGENT);
    expect(agentRuns(world)[0]?.join(" ")).toContain("--network none");
    const trusted = await succeed(world, ["trust"]);
    expect(trusted.stdout).toContain('mode = "bridge"');
    expect(await mode()).toBe("bridge");
    world.write("guardloop.toml", `${file}# changed\n`);
    world.commit("Changed");
    expect(await mode()).toBe("none");
  });

  test("trust without a file to trust, and trust in one clone, not in another", async () => {
    using world = makeWorld();
    await refuse(world, ["trust"], { code: "config-invalid", status: 2 });
    world.write("guardloop.toml", '[network]\nmode = "bridge"\n');
    world.commit("Wants a network");
    await succeed(world, ["trust", "--json"]);
    const other = join(world.root, "other");
    world.git("clone", "-q", world.repo, other);
    expect(await setting(world, "network.mode")).toMatchObject({ value: "bridge" });
    expect(await setting(world, "network.mode", [], { cwd: other })).toMatchObject({
      value: "none",
    });
  });

  test.each([
    ["an unknown key", "[run]\nmax_task = 2\n", /guardloop\.toml:2:1.*max_task/],
    ["an unknown section", "[runs]\n", /guardloop\.toml:1:\d+.*runs/],
    ["a value of the wrong kind", "[run]\nmax_tasks = true\n", /guardloop\.toml:2:\d+/],
    ["text that is no TOML", "[run\n", /guardloop\.toml:\d+:\d+/],
  ])("%s in the file is refused with its line and column", async (_, text, message) => {
    using world = makeWorld();
    world.write("guardloop.toml", text);
    world.commit("Settings");
    for (const args of [["config"], ["run", "--agent", "command", "--", "true"]]) {
      const said = await refuse(world, args, { code: "config-invalid", status: 2 });
      expect(said.message).toMatch(message);
    }
    expect(existsSync(world.state)).toBe(false);
  });

  test("an unknown GUARD_ name is a warning that names the likely one; a wrong value is refused", async () => {
    using world = makeWorld();
    const ended = await succeed(world, ["config"], { env: { GUARD_MAX_TASK: "2" } });
    expect(ended.stderr).toMatch(/GUARD_MAX_TASK\b.*GUARD_MAX_TASKS/);
    const env = { GUARD_NETWORK_MODE: "everything" };
    const said = await refuse(world, ["config"], { code: "config-invalid", status: 2 }, { env });
    expect(said.message).toMatch(/GUARD_NETWORK_MODE.*none, gateway, bridge/);
  });

  test("outside of a repository the settings are shown without its file", async () => {
    using world = makeWorld();
    const shown = await setting(world, "run.max_tasks", [], { cwd: world.root });
    expect(shown).toMatchObject({ origin: "default" });
  });
});

describe("the agent and its network", () => {
  test("without an agent: exit 2, naming the choices", async () => {
    using world = makeWorld();
    const said = await refuse(world, ["run"], { code: "agent-not-configured", status: 2 });
    expect(said.cure).toMatch(/codex.*claude.*command/);
    const bare = ["run", "--agent", "command"];
    const more = await refuse(world, bare, { code: "agent-not-configured", status: 2 });
    expect(more.cure).toContain("-- PROGRAM");
    expect(existsSync(world.state)).toBe(false);
  });

  test.each([
    ["codex", "OPENAI_API_KEY"],
    ["claude", "ANTHROPIC_API_KEY"],
  ])(
    "the hosted agent %s without a network: exit 3, naming the alternatives",
    async (name, key) => {
      using world = makeWorld();
      const said = await refuse(world, ["run", "--agent", name], { code: "network-required" });
      expect(said.cure).toContain("--network bridge");
      expect(said.cure).toContain(`--pass-env ${key}`);
      expect(said.cure).toContain("--agent command");
      expect(existsSync(world.state)).toBe(false);
    },
  );

  test("an unknown network mode and an unknown agent are refused, naming what there is", async () => {
    using world = makeWorld();
    const wrong = { code: "config-invalid", status: 2 };
    const network = ["run", "--agent", "command", "--network", "host", "--", "true"];
    expect((await refuse(world, network, wrong)).message).toMatch(
      /--network.*none, gateway, bridge/,
    );
    const agent = ["run", "--agent", "gpt"];
    expect((await refuse(world, agent, wrong)).message).toMatch(/--agent.*codex/);
    expect(existsSync(world.state)).toBe(false);
  });

  test("a variable that should be passed and is not set is refused", async () => {
    using world = makeWorld();
    const args = ["run", "--agent", "command", "--pass-env", "NOT_THERE", "--", "true"];
    const said = await refuse(world, args, { code: "config-invalid", status: 2 });
    expect(said.message).toContain("NOT_THERE");
  });
});
