import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type HostedAgentImage, buildHostedAgentImage } from "../rig/hosted-agent/image.ts";
import {
  KEY,
  PROGRAMS,
  eventsOf,
  filesWith,
  hostedEnv,
  logOf,
  reported,
  runHosted,
} from "../rig/hosted-agent/run-hosted.ts";
import { ARTIFACTS, MARK_DONE } from "../rig/hosted-agent/whole-task.ts";
import type { ModelStep } from "../rig/model-api/model-api.mjs";
import {
  type Ended,
  type World,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

const BOTH = ["codex", "claude"] as const;

const WHOLE_TASK: readonly ModelStep[] = [
  // An agent that says its key aloud: what is written down of it has the variable's name instead.
  { say: `I look at the file. My key is ${KEY}.`, run: "cat src/app.txt" },
  { run: "echo again >> src/app.txt && echo one > one.txt" },
  { run: `${MARK_DONE} && git add -A && git commit -q -m "Add the first file"` },
  { run: ARTIFACTS },
  { say: "All done." },
];

let image: HostedAgentImage;
beforeAll(() => {
  image = buildHostedAgentImage();
});
afterAll(() => image[Symbol.dispose]());

/** With what the command said, when it failed. */
function expectSuccess(ended: Ended): void {
  expect(ended.code === 0 ? "success" : `exit ${ended.code}: ${ended.stderr}`).toBe("success");
}

/** What WHOLE_TASK did, and nothing else, under the agent's own name. */
function expectOneGoodCommit(world: World, branch: string): void {
  expect(world.git("log", "--format=%an <%ae>|%s", `main..${branch}`)).toBe(
    "guardloop agent <agent@guardloop.invalid>|Add the first file",
  );
  expect(world.git("diff", "--name-only", "main", branch).split("\n")).toEqual([
    "docs/TASKS.md",
    "one.txt",
    "src/app.txt",
  ]);
  expect(world.git("show", `${branch}:src/app.txt`)).toBe("hello\nagain");
}

/** The events of WHOLE_TASK; how a program wraps a command is its own affair. */
function expectWholeStory(events: Awaited<ReturnType<typeof eventsOf>>): void {
  const commands = events.filter((one) => one.type === "command");
  expect(commands).toHaveLength(4);
  expect(commands[0]?.["command"]).toContain("cat src/app.txt");
  const results = events.filter((one) => one.type === "command-result");
  expect(results.map((one) => one["exitCode"])).toEqual([0, 0, 0, 0]);
  expect(results[0]?.["output"]).toMatch(/^hello\n?$/);
  expect(events).toContainEqual(expect.objectContaining({ type: "message", text: "All done." }));
  const usage = events.filter((one) => one.type === "usage");
  expect(usage).toMatchObject([{ cachedInputTokens: 200, outputTokens: 50 }]);
}

/** What a second terminal shows once the agent's first command has ended. */
async function watch(world: World) {
  await vi.waitFor(
    () => expect(filesWith(world, '"command-result"').join()).toContain("agent.jsonl"),
    { timeout: 120_000, interval: 200 },
  );
  const events = await eventsOf(world);
  return { events, state: (await runsOf(world))[0]?.state };
}

const KEEPS_FAILING: readonly ModelStep[] = [{ status: 401, say: "wrong key" }];
const NEVER_ANSWERS: readonly ModelStep[] = [
  { say: "I look at the file.", run: "cat src/app.txt" },
  { hang: true },
];

// Several of these wait for a limit: they wait while the others work.
describe.concurrent("a hosted agent", { timeout: 180_000 }, () => {
  describe.each(BOTH)("the published %s", (program) => {
    test("does a whole task through the whole flow", async () => {
      using world = makeWorld("docker");
      const before = checkoutDigest(world);
      const ended = await runHosted(world, program, {
        image: image.name,
        steps: WHOLE_TASK,
        flags: ["--model", "some-model"],
        extra: PROGRAMS[program].saysMark,
      });

      expectSuccess(ended);
      expect(ended.stderr).toContain("Network mode bridge: the container gets a real network.");
      expect(ended.stderr).toContain(`readable by everything in it: ${PROGRAMS[program].key}, `);
      const [run] = await runsOf(world);
      expect(run).toMatchObject({ task: "T1", state: "ready", failure: null });
      expectOneGoodCommit(world, run?.branch ?? "");
      const reviewed = await world.guardloop(["review", "@last", "--json"]);
      expectSuccess(reviewed);
      expect(JSON.parse(reviewed.stdout).findings).toEqual([]);
      expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
      expect(leftovers(world)).toEqual([]);

      const shown = await world.guardloop(["show", "@last", "--json"]);
      const { agentVersion } = (JSON.parse(shown.stdout) as { run: { agentVersion: string } }).run;
      expect(agentVersion).toMatch(/^(?:codex-cli )?\d+\.\d+\.\d+/);
      expectWholeStory(await eventsOf(world));
      const log = await logOf(world);
      expect(reported(log, "model request")).toEqual(
        WHOLE_TASK.map(() => ({
          path: PROGRAMS[program].path,
          model: "some-model",
          credential: "as passed",
          mark: "there",
        })),
      );
      expect(reported(log, "outside request")).toEqual([]);

      const record = join("runs", run?.id ?? "");
      const written = readdirSync(join(world.state, record));
      for (const name of ["spec", "container", "review", "import", "snapshot-manifest"])
        expect(written).toContain(`${name}.json`);
      expect(existsSync(join(world.state, "history.db"))).toBe(true);
      expect(filesWith(world, KEY)).toEqual([]);
      const said = `My key is [redacted: ${PROGRAMS[program].key} of the environment]`;
      expect(filesWith(world, said)).toEqual([
        join(record, "agent.jsonl"),
        join(record, "agent.log"),
      ]);
    });
  });

  test("an agent chosen by the environment alone does the same, and its uncommitted work arrives", async () => {
    using world = makeWorld("docker");
    const steps: readonly ModelStep[] = [
      { write: { path: "/workspace/one.txt", content: "one\n" } },
      { run: `${MARK_DONE} && ${ARTIFACTS}` },
      { say: "All done." },
    ];
    const env = hostedEnv("claude", { steps });
    const guard = {
      GUARD_AGENT: "claude",
      GUARD_NETWORK_MODE: "bridge",
      GUARD_PASS_ENV: Object.keys(env).join(","),
      GUARD_IMAGE: image.name,
    };
    const ended = await world.guardloop(["run"], { env: { ...env, ...guard } });

    expectSuccess(ended);
    expect(ended.stderr).toContain("Network mode bridge");
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ task: "T1", state: "ready" });
    expect(world.git("show", `${run?.branch}:one.txt`)).toBe("one");
    expect(world.git("log", "-1", "--format=%an|%s", run?.branch ?? "")).toBe(
      "guardloop agent|Add the first file",
    );
    expect(await eventsOf(world)).toContainEqual(
      expect.objectContaining({ type: "file-change", path: "/workspace/one.txt", change: "add" }),
    );
    expect(filesWith(world, KEY)).toEqual([]);
  });

  describe("without a network", () => {
    test.each(BOTH)(
      "%s is refused before anything is created, with the alternatives",
      async (program) => {
        using world = makeWorld();
        const { key } = PROGRAMS[program];
        const before = checkoutDigest(world);
        const ended = await world.guardloop(["run", "--agent", program, "--pass-env", key], {
          env: { [key]: KEY },
        });

        expect(ended.code).toBe(3);
        expect(ended.stderr).toContain(`The agent ${program} reaches a hosted model`);
        for (const way of ["--network bridge", `--pass-env ${key}`, "--agent command -- PROGRAM"])
          expect(ended.stderr).toContain(way);
        expect(await runsOf(world)).toEqual([]);
        expect(world.dockerCalls()).toEqual([]);
        expect(checkoutDigest(world)).toBe(before);
      },
    );
  });

  describe("a model API that", () => {
    test.each([
      {
        program: "codex",
        status: 401,
        call: { extra: ["-c", "model_providers.guardloop.stream_max_retries=0"] },
        said: "401 Unauthorized: out of service",
      },
      {
        program: "claude",
        status: 500,
        call: { env: { CLAUDE_CODE_MAX_RETRIES: "0" } },
        said: "500 out of service",
      },
    ] as const)(
      "answers $status once and for all: the program gives up, and the log says why",
      async (one) => {
        using world = makeWorld("docker");
        const steps = [{ status: one.status, say: "out of service" }];
        const ended = await runHosted(world, one.program, {
          image: image.name,
          steps,
          ...one.call,
        });

        const [run] = await runsOf(world);
        expect(run?.failure).toMatchObject({ stage: "collect", code: "missing-task-id" });
        expect(ended.code).toBe(4);
        expect(ended.stderr).toContain(`guardloop logs ${run?.id}`);
        expect(await logOf(world)).toContain(one.said);
        expect(await eventsOf(world)).toContainEqual(
          expect.objectContaining({ type: "error", text: expect.stringContaining(one.said) }),
        );
        expect(leftovers(world)).toEqual([]);
      },
    );

    test("answers 401 again and again: the wall limit ends the attempts, and the log says why", async () => {
      using world = makeWorld("docker");
      const ended = await runHosted(world, "claude", {
        image: image.name,
        steps: KEEPS_FAILING,
        flags: ["--wall-minutes", "0.3"],
      });

      expect((await runsOf(world))[0]?.failure).toMatchObject({ code: "agent-wall-limit" });
      expect(ended.code).toBe(1);
      expect(await eventsOf(world)).toContainEqual(
        expect.objectContaining({
          type: "error",
          text: "The model API failed (401 authentication_failed); trying again.",
        }),
      );
      expect(leftovers(world)).toEqual([]);
    });

    test.each(BOTH)(
      "never answers: %s can be watched, and the idle limit ends it",
      async (program) => {
        using world = makeWorld("docker");
        const running = runHosted(world, program, {
          image: image.name,
          steps: NEVER_ANSWERS,
          flags: ["--idle-minutes", "0.3"],
        });
        // Both to their end, whatever they say: the world must outlive the run.
        const [watched, ended] = await Promise.allSettled([watch(world), running]);
        const said = expect.objectContaining({ type: "message", text: "I look at the file." });
        expect(watched).toMatchObject({
          value: { state: "running", events: expect.arrayContaining([said]) },
        });
        const [run] = await runsOf(world);
        expect(run?.failure).toMatchObject({ code: "agent-idle-limit" });
        expect(ended).toMatchObject({
          value: { code: 1, stderr: expect.stringContaining(`guardloop logs ${run?.id}`) },
        });
        expect(leftovers(world)).toEqual([]);
      },
    );
  });
});
