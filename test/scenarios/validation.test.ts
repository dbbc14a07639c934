import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setTimeout as delay } from "node:timers/promises";
import { ASSIGNED_AGENT } from "../rig/several.ts";
import {
  GOOD_AGENT,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

function configure(world: World, toml: string): void {
  world.write("guardloop.toml", toml);
  world.commit("Configure guardloop");
}

async function shown(world: World) {
  return JSON.parse((await world.guardloop(["show", "@last", "--json"])).stdout);
}

describe.each(["scripted", "docker"] as const)("validation on the %s engine", (engine) => {
  test("passes on exactly the imported tree, and then promotion goes through", async () => {
    using world = makeWorld(engine);
    world.write(".gitignore", "*.log\n");
    configure(
      world,
      '[validate]\ncommands = ["file: grep -q T1 T1.txt", "clean: test -z \\"$(ls *.log 2>/dev/null)\\""]\n',
    );
    const ended = await world.run(`${GOOD_AGENT}\necho left > debris.log`);
    expect(ended.code).toBe(0);
    const { validation, run } = await shown(world);
    expect(validation.verdict).toBe("passed");
    expect(validation.tree).toBe(world.git("rev-parse", `${run.branch}^{tree}`));
    expect(validation.results.map((one: { outcome: string }) => one.outcome)).toEqual([
      "passed",
      "passed",
    ]);
    expect(leftovers(world)).toEqual([]);
    expect((await world.guardloop(["promote", "@last"])).code).toBe(0);
  });

  test("what one command builds the next can use, and nothing of it comes back", async () => {
    using world = makeWorld(engine);
    configure(
      world,
      '[validate]\ncommands = ["build: echo built > out.txt", "use: grep built out.txt"]\n',
    );
    const before = checkoutDigest(world);
    expect((await world.run(GOOD_AGENT)).code).toBe(0);
    expect((await shown(world)).validation.verdict).toBe("passed");
    const [run] = await runsOf(world);
    expect(() => world.git("show", `${run?.branch}:out.txt`)).toThrow();
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(readdirSync(join(world.state, "runs", run?.id ?? ""))).not.toContain("validation");
  });

  test("a command over its time is ended, says so, and the rest is not run", async () => {
    using world = makeWorld(engine);
    configure(
      world,
      '[validate]\ncommands = ["slow: sleep 100", "never: touch /tmp/x"]\nminutes = 0.03\n',
    );
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(4);
    const { validation } = await shown(world);
    expect(validation.results.map((one: { outcome: string }) => one.outcome)).toEqual([
      "timed-out",
      "not-run",
    ]);
    expect(leftovers(world)).toEqual([]);
  });
});

describe("a failed validation", () => {
  test("leaves the run ready, ends the series with exit 4, and blocks promotion until it is overridden by name", async () => {
    using world = makeWorld();
    configure(
      world,
      '[validate]\ncommands = ["good: true", "bad: echo reason; exit 7", "after: true"]\n',
    );
    const ended = await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain("bad failed");
    const runs = await runsOf(world);
    expect(runs.map((run) => run.state)).toEqual(["ready"]);
    const log = await world.guardloop(["logs", "@last", "--validation"]);
    expect(log.stdout).toContain("reason");
    const head = world.git("rev-parse", "HEAD");
    const refused = await world.guardloop(["promote", "@last"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("--without-validation REASON");
    expect(world.git("rev-parse", "HEAD")).toBe(head);
    const forced = await world.guardloop([
      "promote",
      "@last",
      "--without-validation",
      "the test is wrong",
    ]);
    expect(forced.code).toBe(0);
    expect((await shown(world)).promotion.withoutValidation).toBe("the test is wrong");
  });

  test("is not built upon: with --keep-going the next run starts from the checkout again", async () => {
    using world = makeWorld();
    configure(world, '[validate]\ncommands = ["bad: false"]\n');
    await world.run(GOOD_AGENT, ["--max-tasks", "2", "--keep-going"]);
    const runs = await runsOf(world);
    expect(new Set(runs.map((run) => run.base))).toEqual(new Set([world.git("rev-parse", "HEAD")]));
  });

  test("stops --promote auto", async () => {
    using world = makeWorld();
    configure(world, '[validate]\ncommands = ["bad: false"]\n');
    const head = world.git("rev-parse", "HEAD");
    expect((await world.run(GOOD_AGENT, ["--promote", "auto"])).code).toBe(4);
    expect(world.git("rev-parse", "HEAD")).toBe(head);
  });

  test("can be repeated with the commands of the checkout, never with those of the branch", async () => {
    using world = makeWorld();
    configure(world, '[validate]\ncommands = ["first: false"]\n');
    await world.run(
      `${GOOD_AGENT}\nprintf '[validate]\\ncommands = ["first: true"]\\n' > guardloop.toml`,
    );
    const still = await world.guardloop(["validate", "@last"]);
    expect(still.code).toBe(4);
    configure(world, '[validate]\ncommands = ["second: true"]\n');
    const again = await world.guardloop(["validate", "@last", "--json"]);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout).validation.results[0].name).toBe("second");
    expect(leftovers(world)).toEqual([]);
  });
});

test("a missing validation blocks promotion: the commands are known, but no result is", async () => {
  using world = makeWorld();
  configure(world, '[validate]\ncommands = ["good: true"]\n');
  world.faults({ validationRefused: true });
  const keepGoing = ["--max-tasks", "2", "--keep-going", "--backoff-seconds", "0"];
  const ended = await world.run(ASSIGNED_AGENT, keepGoing);
  expect(ended.stderr).toContain("could not be validated");
  expect(ended.code).toBe(4);
  // What could not be validated is not built upon.
  const runs = await runsOf(world);
  expect(new Set(runs.map((run) => run.base)).size).toBe(1);
  const refused = await world.guardloop(["promote", "@last"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("has not been validated");
});

test("validation sees the overlay files that the agent saw, and no others", async () => {
  using world = makeWorld();
  world.write(".gitignore", "*.cache\nother.txt\n");
  configure(
    world,
    '[validate]\ncommands = ["overlay: test -f deps.cache && test ! -f other.txt"]\n',
  );
  writeFileSync(join(world.repo, "deps.cache"), "cached\n");
  writeFileSync(join(world.repo, "other.txt"), "other\n");
  const ended = await world.run(`test -f deps.cache && ${GOOD_AGENT}`, ["--overlay", "*.cache"]);
  expect(ended.stderr).not.toContain("failed");
  expect(ended.code).toBe(0);
  const [run] = await runsOf(world);
  expect(() => world.git("show", `${run?.branch}:deps.cache`)).toThrow();
  expect(existsSync(join(world.state, "runs", run?.id ?? "", "validation.log"))).toBe(true);
});

test("the container of a validation has the hardened posture, no network and no passed variable", async () => {
  using world = makeWorld();
  configure(world, '[validate]\ncommands = ["good: true"]\n');
  await world.run(GOOD_AGENT, ["--network", "bridge", "--pass-env", "WANTED"], {
    env: { WANTED: "x" },
  });
  const call = world
    .dockerCalls()
    .find((one) => one.argv.some((arg) => arg.endsWith("-validate") && arg.startsWith("--name=")));
  expect(call?.argv).toContain("--cap-drop=ALL");
  expect(call?.argv).toContain("--read-only");
  expect(call?.argv.join(" ")).toContain("--network none");
  expect(call?.argv).not.toContain("--env=WANTED");
  expect(readFileSync(join(world.bin, "docker.calls.jsonl"), "utf8")).toContain("--env=WANTED");
});

test("recovery leaves the container of a validation alone that somebody waits for", async () => {
  using world = makeWorld();
  configure(
    world,
    '[validate]\ncommands = ["slow: while [ ! -f go ]; do sleep 0.1; done"]\nminutes = 1\n',
  );
  await world.run(GOOD_AGENT, ["--validate", "quick: true"]);
  const [run] = await runsOf(world);
  const validating = world.guardloop(["validate", run?.id ?? ""]);
  const workspace = join(world.state, "runs", run?.id ?? "", "validation/workspace");
  const container = join(world.bin, "containers", `guardloop-${run?.id}-validate`);
  while (!existsSync(container)) await delay(50);
  const recovered = await world.guardloop(["recover"]);
  expect(recovered.stdout).toContain("Nothing to recover");
  writeFileSync(join(workspace, "go"), "");
  expect((await validating).code).toBe(0);
});
