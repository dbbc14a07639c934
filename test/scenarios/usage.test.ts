import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { refuse, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

const COMMANDS = [
  ["init"],
  ["doctor"],
  ["tasks"],
  ["run"],
  ["runs"],
  ["show"],
  ["logs"],
  ["review"],
  ["promote"],
  ["discard"],
  ["restore"],
  ["rollback"],
  ["recover"],
  ["image", "build"],
  ["config"],
  ["trust"],
  ["validate"],
  ["salvage"],
  ["stop"],
  ["watch"],
  ["export"],
  ["verify"],
  ["branches"],
] as const;

const ABOUT_A_RUN = [
  "show",
  "logs",
  "review",
  "promote",
  "discard",
  "restore",
  "rollback",
  "validate",
  "salvage",
  "stop",
];

describe("help", () => {
  test("of every command says what it does, its exit codes and examples that begin with its name", async () => {
    using world = makeWorld();
    for (const command of COMMANDS) {
      const { stdout, stderr } = await succeed(world, [...command, "--help"], { cwd: world.root });
      const name = command.join(" ");
      expect([name, stdout]).toEqual([name, expect.stringMatching(/^Usage: guardloop /)]);
      expect([name, stdout]).toEqual([name, expect.stringMatching(/\nExit codes:\n {2}0 +done\n/)]);
      const examples = stdout.split("\nExamples:\n")[1]?.trim().split("\n") ?? [];
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples)
        expect(example.trim()).toMatch(new RegExp(`^(GUARD_\\w+=\\S+ )?guardloop ${name}\\b`));
      expect([name, stdout]).toEqual([name, expect.stringContaining("--json")]);
      expect([name, stderr]).toEqual([name, ""]);
    }
    const whole = await succeed(world, ["--help"]);
    for (const [name] of COMMANDS) expect(whole.stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  });

  test("the version is the package's", async () => {
    using world = makeWorld();
    expect((await succeed(world, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("what cannot be understood", () => {
  test.each<readonly [string, readonly string[], RegExp]>([
    ["no command", [], /No command was given.*guardloop --help/],
    ["an unknown command", ["rnu"], /unknown command 'rnu'.*Did you mean run\?.*guardloop --help/],
    ["an unknown flag before it", ["--loud", "runs"], /unknown option '--loud'.*guardloop --help/],
    ["image without a verb", ["image"], /guardloop image --help/],
    ["an unknown verb of image", ["image", "biuld"], /unknown command 'biuld'/],
    ["a flag without its value", ["run", "--agent"], /--agent.*guardloop run --help/],
    ["a value of a choice", ["image", "build", "--source", "moon"], /--source.*guardloop image/],
    ["unknown agents", ["image", "build", "--agent", "gpt"], /--agent gpt.*--agent none/],
    ["a task as an argument", ["run", "T1"], /"T1" is not understood.* -- PROGRAM/],
    [
      "a program before the dashes",
      ["run", "--agent", "command", "x", "--", "y"],
      /"x" is not understood/,
    ],
  ])("%s: exit 2 and one line that says what to type", async (_, args, line) => {
    using world = makeWorld();
    const ended = await world.guardloop(args);
    expect(ended.code).toBe(2);
    expect(ended.stderr.trimEnd()).toMatch(line);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(ended.stdout).toBe("");
    expect(world.dockerCalls()).toEqual([]);
  });

  test("an unknown flag and an argument too many, of every command", async () => {
    using world = makeWorld();
    for (const command of COMMANDS) {
      const [name] = command;
      const run = ABOUT_A_RUN.includes(name) ? ["@last"] : [];
      const flag = await world.guardloop([...command, ...run, "--no-such-flag"]);
      expect([name, flag.code]).toEqual([name, 2]);
      expect([name, flag.stderr]).toEqual([
        name,
        expect.stringMatching(
          new RegExp(`unknown option '--no-such-flag'.*guardloop ${name} .*--help`),
        ),
      ]);
      const more = await world.guardloop([...command, ...run, "stray"]);
      expect([`${name} stray`, more.code]).toEqual([`${name} stray`, 2]);
      expect([`${name} stray`, more.stderr.trimEnd().split("\n").length]).toEqual([
        `${name} stray`,
        1,
      ]);
    }
    for (const name of ABOUT_A_RUN) {
      const missing = await world.guardloop([name]);
      expect([name, missing.code]).toEqual([name, 2]);
      expect([name, missing.stderr]).toEqual([
        name,
        expect.stringMatching(/missing required argument 'run'/),
      ]);
    }
  });

  test("with --json the mistake is an object; behind two dashes --json is the agent's", async () => {
    using world = makeWorld();
    const said = await refuse(world, ["runs", "--loud"], { code: "usage", status: 2 });
    expect(said.cure).toContain("guardloop runs --help");
    const theirs = await world.guardloop(["run", "--loud", "--", "agent", "--json"]);
    expect(theirs.code).toBe(2);
    expect(theirs.stdout).toBe("");
    expect(theirs.stderr).toContain("--loud");
  });
});

describe("RUN", () => {
  test("is an id, a unique prefix or @last; an ambiguous or unknown one is refused with ids", async () => {
    using world = makeWorld();
    const nothing = { code: "unknown-run", status: 2 };
    for (const name of ABOUT_A_RUN) await refuse(world, [name, "@last"], nothing);
    await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
    const [second, first] = (await runsOf(world)).map((run) => run.id);
    if (first === undefined || second === undefined) throw new Error("two runs were expected");
    expect((await show(world, "@last")).run.id).toBe(second);
    for (const id of [first, second]) {
      const other = id === first ? second : first;
      let length = 1;
      while (other.startsWith(id.slice(0, length))) length += 1;
      expect((await show(world, id)).run.id).toBe(id);
      expect((await show(world, id.slice(0, length))).run.id).toBe(id);
    }
    for (const name of ABOUT_A_RUN) {
      const said = await refuse(world, [name, first.slice(0, 4)], nothing);
      expect([name, said.message]).toEqual([name, expect.stringContaining("2 runs begin with")]);
      expect([name, said.details]).toEqual([name, [second, first]]);
      for (const wrong of ["zzz", "", "%", "@first", first.slice(1), `${first}x`])
        await refuse(world, [name, wrong], nothing);
    }
  });

  test("@last is the newest of this repository, and outside of one the newest of all", async () => {
    using world = makeWorld();
    const other = join(world.root, "other");
    world.git("clone", "-q", world.repo, other);
    await world.run(GOOD_AGENT);
    await world.run(GOOD_AGENT, [], { cwd: other });
    const here = await show(world);
    const there = await show(world, "@last", { cwd: other });
    expect(here.run.id).not.toBe(there.run.id);
    expect((await show(world, "@last", { cwd: world.root })).run.id).toBe(there.run.id);
    expect(await runsOf(world)).toHaveLength(1);
    const all = await succeed(world, ["runs", "--all", "--json"]);
    expect((JSON.parse(all.stdout) as { runs: unknown[] }).runs).toHaveLength(2);
  });
});

describe("--json", () => {
  test("of every command prints JSON alone, one document a line, with a version", async () => {
    using world = makeWorld();
    const calls: readonly (readonly [readonly string[], number])[] = [
      [["init", "--json"], 0],
      [["config", "--json"], 0],
      [["doctor", "--json"], 3],
      [["tasks", "--json"], 0],
      [["runs", "--json"], 0],
      [["trust", "--json"], 2],
      [["run", "--json", "--agent", "command", "--", "sh", "-c", GOOD_AGENT], 3],
      [["show", "@last", "--json"], 2],
      [["recover", "--json"], 0],
      [["image", "build", "--json", "--agent", "x"], 2],
    ];
    const check = async (args: readonly string[], status: number) => {
      const ended = await world.guardloop(args);
      expect([`${args.join(" ")}: ${ended.stdout}${ended.stderr}`, ended.code]).toEqual([
        `${args.join(" ")}: ${ended.stdout}${ended.stderr}`,
        status,
      ]);
      const lines = ended.stdout === "" ? [] : ended.stdout.trimEnd().split("\n");
      for (const line of lines) expect(JSON.parse(line)).toHaveProperty("version", 1);
      return lines.length;
    };
    for (const [args, status] of calls)
      expect([args.join(" "), await check(args, status)]).toEqual([args.join(" "), 1]);
    // What `init` wrote made the checkout dirty, hence the refusals above.
    world.commit("Init");
    const run = ["run", "--json", "--agent", "command", "--", "sh", "-c", GOOD_AGENT];
    expect(await check(run, 0)).toBeGreaterThan(5);
    for (const verb of ["show", "review", "promote", "rollback", "restore", "discard", "restore"])
      expect([verb, await check([verb, "@last", "--json"], 0)]).toEqual([verb, 1]);
    await check(["logs", "@last", "--json"], 0);
    for (const args of [
      ["doctor", "--json"],
      ["trust", "--json"],
      ["runs", "--json"],
    ])
      expect([args.join(" "), await check(args, 0)]).toEqual([args.join(" "), 1]);
  });
});

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

test("without a terminal there is no colour, and nothing of the agent's steers one", async () => {
  using world = makeWorld();
  const evil = "\\033[2J\\033]0;owned\\007\\342\\200\\256";
  await world.run(`printf 'hello ${evil}\\n'; ${GOOD_AGENT}\nprintf 'x ${evil}\\n' > evil.txt`);
  for (const args of [["logs", "@last"], ["review", "@last"], ["show", "@last"], ["runs"]]) {
    const { stdout } = await succeed(world, args);
    expect([args.join(" "), STEERING.test(stdout)]).toEqual([args.join(" "), false]);
  }
  expect((await succeed(world, ["review", "@last"])).stdout).toContain("owned");
});
