import { describe, expect, test } from "vitest";
import { succeed } from "../rig/lifecycle.ts";
import { type World, GOOD_AGENT, leftovers, makeWorld, runsOf } from "../rig/world.ts";

/** What a client says when it cannot run a container, from inside of one that runs. */
const FORGED: Readonly<Record<string, string>> = {
  docker: "echo 'docker: Error response from daemon: no space left on device.' >&2; exit 125",
  podman: "echo 'Error: OCI runtime error: crun: there is no such thing' >&2; exit 126",
};

async function validatedWith(world: World, line: string) {
  const ended = await world.run(GOOD_AGENT, ["--validate", `it: ${line}`]);
  const shown = await succeed(world, ["show", "@last", "--json"]);
  const { validation } = JSON.parse(shown.stdout) as {
    validation: { results: readonly { outcome: string; exitCode: number }[] } | null;
  };
  return { ended, result: validation?.results[0] };
}

describe("a validation command that ends with a status of the engine's own client", () => {
  test.each([
    ["scripted", "exit 125", 125],
    ["scripted", "exit 126", 126],
    ["scripted-podman", "exit 125", 125],
    ["docker", "no-such-program", 127],
  ] as const)("has failed (%s: %s)", async (engine, line, status) => {
    using world = makeWorld(engine);
    const { ended, result } = await validatedWith(world, line);
    expect(ended.code).toBe(4);
    expect(result).toMatchObject({ outcome: "failed", exitCode: status });
    expect(leftovers(world)).toEqual([]);
  });

  test.each(["scripted", "scripted-podman", "docker"] as const)(
    "and speaks like it has failed: the engine knows that it had started (%s)",
    async (engine) => {
      using world = makeWorld(engine);
      const forged = FORGED[engine === "scripted-podman" ? "podman" : "docker"] ?? "";
      const { ended, result } = await validatedWith(world, forged);
      expect(ended.code).toBe(4);
      expect(result).toMatchObject({ outcome: "failed" });
    },
  );
});

test("what a status of a shell means is said where the result is shown", async () => {
  using world = makeWorld();
  await validatedWith(world, "no-such-program");
  const { stdout } = await succeed(world, ["show", "@last"]);
  expect(stdout).toMatch(/^ {2}failed +it {2}status 127 \(a program is not there\)/m);
});

test("a validation whose container the engine refuses was not made, in the engine's words", async () => {
  using world = makeWorld();
  world.faults({ validationRefused: true });
  const { ended, result } = await validatedWith(world, "true");
  expect(result).toBeUndefined();
  expect(ended.stderr).toContain("no space left on device");
  expect(ended.stderr).toContain("could not be validated");
});

describe("an agent", () => {
  test.each([
    [
      "that a shell does not find",
      "no-such-agent --do-it",
      /status 127 and left nothing: .* is not there\.$/,
    ],
    [
      "that a shell cannot start",
      "./docs/TASKS.md",
      /status 126 and left nothing: .* could not be started\.$/,
    ],
  ])("%s has a failure of its own", async (_, script, message) => {
    using world = makeWorld();
    const ended = await world.run(script);
    expect(ended.code).toBe(1);
    expect((await runsOf(world))[0]?.failure).toMatchObject({
      stage: "collect",
      code: "agent-not-started",
      message: expect.stringMatching(message),
    });
    expect(leftovers(world)).toEqual([]);
  });

  test("that did its task and then missed a program is imported", async () => {
    using world = makeWorld();
    expect((await world.run(`${GOOD_AGENT}\nno-such-program`)).code).toBe(0);
    expect((await runsOf(world))[0]?.state).toBe("ready");
  });
});
