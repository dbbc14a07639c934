import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { ending } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";

const HOOK = pathToFileURL(join(import.meta.dirname, "../rig/spawn-hook.mjs")).href;

/** The programs that a run of one task starts on the host, what the scripted engine starts not among them. */
function startsOfRun(world: World, args: readonly string[] = []): Promise<readonly string[]> {
  return startsOf(world, ["run", ...args, "--agent", "command", "--", "sh", "-c", GOOD_AGENT]);
}

async function startsOf(world: World, words: readonly string[]): Promise<readonly string[]> {
  const record = join(world.root, "starts");
  writeFileSync(record, "");
  const env = { NODE_OPTIONS: `--import ${HOOK}`, SPAWN_RECORD: record };
  expect(ending(await world.guardloop(words, { env }))).toBe("exit 0");
  const starts = readFileSync(record, "utf8").split("\n");
  // What a container uses is looked up by the clock.
  return starts.filter((line) => line !== "" && !/\/docker stats /.test(line));
}

describe("what a run of one task asks for", () => {
  let first: readonly string[];
  let second: readonly string[];
  let engineCalls: readonly (readonly string[])[];

  beforeAll(async () => {
    using world = makeWorld();
    first = await startsOfRun(world);
    const before = world.dockerCalls().length;
    second = await startsOfRun(world);
    engineCalls = world
      .dockerCalls()
      .slice(before)
      .map(({ argv }) => argv);
  });

  test("the engine: five questions around the one container", () => {
    // What a container uses is looked up by the clock.
    const calls = engineCalls.filter(([verb]) => verb !== "stats");
    const about = ["label=guardloop.run", "event=oom", "name=", "guardloop-"];
    const words = calls.map((argv) =>
      [argv[0], about.find((word) => argv.join(" ").includes(word))].join(" "),
    );
    // These are asked at once, and recovery asks nothing again where nothing was to be done.
    expect(words.slice(0, 3).toSorted()).toEqual([
      "image guardloop-",
      "info ",
      "ps label=guardloop.run",
    ]);
    expect(words[3]).toBe("run label=guardloop.run");
    // And these two.
    expect(words.slice(4).toSorted()).toEqual(["events event=oom", "ps name="]);
  });

  test("the host: a number of programs that does not grow unseen", () => {
    // Starting a program takes longer than what most of them do. A number that has to grow is written down here.
    expect(first.length, first.join("\n")).toBeLessThanOrEqual(62);
    expect(second.length, second.join("\n")).toBeLessThanOrEqual(46);
  });

  test("until its first stage: the engine before most of Git, and nothing of the same twice", () => {
    // The lease begins with it.
    const lease = second.findIndex((line) => /rev-parse .*\^\{commit\}$/.test(line));
    const before = second.slice(0, lease);
    expect(before.length, before.join("\n")).toBeLessThanOrEqual(15);
    expect(new Set(before).size, before.join("\n")).toBe(before.length);
    const asked = before.findIndex((line) => line.includes("/docker info "));
    expect(asked, before.join("\n")).toBeLessThanOrEqual(3);
  });

  test("what follows on the container: the same few programs each time", () => {
    const at = second.findIndex((line) => / run --rm .*-agent /.test(line));
    const after = second.slice(at + 1).map((line) => {
      const [, words = ""] = /(?:\/git|\/docker) (.*)$/.exec(line) ?? [];
      return words.split(" ").find((word) => /^[a-z][a-z-]*$/.test(word)) ?? "";
    });
    const engine = ["events", "ps"];
    const imported = [
      "cat-file",
      "fast-import",
      "diff-tree",
      "ls-tree",
      "index-pack",
      "update-ref",
    ];
    const returned = ["rev-parse", "status"];
    // What changed, in numbers and in words, and who says what about it; the user's own hooks; the plan, the
    // sizes, names that collide, and links to content elsewhere.
    const reviewed = "diff-tree diff-tree log config ls-tree cat-file cat-file ls-tree cat-file";
    expect(after.toSorted()).toEqual(
      [...engine, ...imported, ...returned, ...reviewed.split(" ")].toSorted(),
    );
  });
});

test("a review is read while the lease is returned; where commands validate the work, after them", async () => {
  using world = makeWorld();
  const isReview = (line: string): boolean => / log --reverse /.test(line);
  // Both before the container and after it; the last one counts.
  const isReturn = (line: string): boolean => /\/git -C \S+ status /.test(line);
  const plain = await startsOfRun(world);
  expect(plain.findIndex(isReview)).toBeLessThan(plain.findLastIndex(isReturn));
  const validated = await startsOfRun(world, ["--validate", "fine: true"]);
  const command = validated.findIndex((line) => / run --rm .*-validate /.test(line));
  expect(command).toBeGreaterThan(validated.findLastIndex(isReturn));
  expect(validated.findIndex(isReview)).toBeGreaterThan(command);
});

test("commands that only look ask Git a few things", async () => {
  using world = makeWorld();
  expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
  const starts = async (...words: readonly string[]) => (await startsOf(world, words)).length;
  expect(await starts("runs")).toBe(1);
  expect(await starts("show", "@last")).toBe(1);
  // The settings at HEAD by two calls, the plan by two.
  expect(await starts("config")).toBe(3);
  expect(await starts("tasks")).toBe(5);
  expect(await starts("tasks", "--help")).toBe(0);
});

test("a repository is not listed whole to find its plan", async () => {
  using world = makeWorld();
  const starts = await startsOfRun(world);
  const listings = starts.filter((line) => / ls-tree -r -z --full-tree [0-9a-f]{40} /.test(line));
  // Of the base, and of what came out.
  expect(listings.map((line) => line.split(" ").slice(-2))).toEqual([
    ["docs/TASKS.md", "docs/tasks"],
    ["docs/TASKS.md", "docs/tasks"],
  ]);
});

test("a plan of many files takes no more programs than one of a few", async () => {
  const starts = async (files: number): Promise<number> => {
    using world = makeWorld();
    for (let number = 1; number <= files; number += 1)
      world.write(`docs/tasks/F${number}.md`, `# F${number}: One of many\n\nStatus: planned\n`);
    world.commit("Add tasks");
    return (await startsOfRun(world)).length;
  };
  expect(await starts(30)).toBe(await starts(2));
});
