import { describe, expect, test } from "vitest";
import { claude } from "../../src/agents/claude.ts";
import { codex } from "../../src/agents/codex.ts";
import type { AgentEvent } from "../../src/agents/port.ts";
import type { ModelStep } from "../rig/model-api/model-api.mjs";
import { type TaskEnd, runInContainer } from "./container-task.ts";

const PROMPT = `---
A prompt may begin with dashes, and "quote", $HOME, and say ä.
Change greeting.txt to say new.
`;
const FINISH =
  'cd /workspace && echo new > greeting.txt && git add . && git commit -q -m "Say new" && ' +
  'echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt" && echo "Say new" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"';
const TASK: readonly ModelStep[] = [
  {
    think: "First look.",
    say: "I look at the file.",
    run: "cat greeting.txt; env | grep _KEY; true",
  },
  { write: { path: "/workspace/notes.md", content: "# Notes\n\nTwo lines.\n" } },
  { run: "echo broken; exit 3" },
  { run: FINISH },
  { say: "All done." },
];

/** With what the program said, when it failed. */
function expectSuccess(end: TaskEnd): void {
  expect(end.code === 0 ? "success" : `exit ${end.code}: ${end.stderr}`).toBe("success");
}

function kinds(events: readonly AgentEvent[]): readonly string[] {
  return events.map((event) => event.type);
}

const PROGRAMS = [
  {
    adapter: codex,
    address: { OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" },
    credential: { OPENAI_API_KEY: "placeholder-key" },
  },
  {
    adapter: claude,
    address: { ANTHROPIC_BASE_URL: "http://127.0.0.1:8080" },
    credential: { ANTHROPIC_API_KEY: "placeholder-key" },
  },
] as const;

describe.each(PROGRAMS)("the published $adapter.name", ({ adapter, address, credential }) => {
  test("does a whole task in a hardened container, and its stream becomes our events", async () => {
    const end = await runInContainer({
      adapter,
      request: {},
      prompt: PROMPT,
      steps: TASK,
      env: { ...address, ...credential },
    });

    expectSuccess(end);
    expect(end.artifacts["git-subject.txt"]).toBe("Say new\n");
    expect(end.artifacts["git-greeting.txt"]).toBe("new\n");
    expect(end.artifacts["git-files.txt"]).toBe("greeting.txt\nnotes.md\n");
    expect(end.artifacts["selected-task-id.txt"]).toBe("T1\n");
    expect(end.artifacts["last-commit-message.txt"]).toBe("Say new\n");
    expect(kinds(end.events)).toEqual([
      "session",
      "thinking",
      "message",
      "command",
      "command-result",
      "file-change",
      "command",
      "command-result",
      "command",
      "command-result",
      "message",
      "usage",
    ]);
    const results = end.events.filter((event) => event.type === "command-result");
    expect(results.map((event) => event.exitCode)).toEqual([0, 3, 0]);
    expect(end.events).toContainEqual({
      type: "file-change",
      path: "/workspace/notes.md",
      change: "add",
    });
    expect(end.events).toContainEqual({ type: "message", text: "All done." });
    const usage = end.events.find((event) => event.type === "usage");
    expect(usage).toMatchObject({ cachedInputTokens: 200, outputTokens: 50 });
    expect(JSON.stringify(end.requests[0]?.body)).toContain(
      JSON.stringify(PROMPT.trim()).slice(1, -1),
    );
  });

  test("takes a model, more arguments, and from its file a prompt too long for an argument", async () => {
    const end = await runInContainer({
      adapter,
      request: { model: "some-model", extraArgs: ["--add-dir", "/tmp"] },
      prompt: `Change greeting.txt.\n${"All of this matters.\n".repeat(10_000)}`,
      steps: [{ run: 'head -1 "$GUARDLOOP_PROMPT"' }, { say: "Read." }],
      env: { ...address, ...credential },
    });

    expectSuccess(end);
    expect(end.requests.at(-1)?.body).toMatchObject({ model: "some-model" });
    expect(JSON.stringify(end.requests[0]?.body)).toContain("Read the whole file /job/prompt.md");
    expect(end.events).toContainEqual(
      expect.objectContaining({
        type: "command-result",
        exitCode: 0,
        output: expect.stringContaining("Change greeting.txt."),
      }),
    );
  });

  test("ends with an error event and a failure when the model API refuses it", async () => {
    const end = await runInContainer({
      adapter,
      request: {},
      prompt: "Say hello.",
      steps: [{ status: 400, say: "no such thing here" }],
      env: { ...address, ...credential },
    });

    expect(end.code).not.toBe(0);
    expect(end.events).toContainEqual(
      expect.objectContaining({
        type: "error",
        text: expect.stringContaining("no such thing here"),
      }),
    );
    expect(kinds(end.events)).not.toContain("output");
  });
});

describe("credentials", () => {
  const prompt = "Say hello.";
  const steps: readonly ModelStep[] = [{ run: "env" }, { say: "Hello." }];

  test.each([
    [{ OPENAI_API_KEY: "from-openai" }, "Bearer from-openai"],
    [{ CODEX_API_KEY: "from-codex" }, "Bearer from-codex"],
    [{ OPENAI_API_KEY: "from-openai", CODEX_API_KEY: "from-codex" }, "Bearer from-codex"],
  ])("codex with %j sends %s, and its commands do not see the key", async (keys, sent) => {
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:8080/v1", ...keys };
    const end = await runInContainer({ adapter: codex, request: {}, prompt, steps, env });

    expect(end.requests.map((request) => request.authorization)).toEqual([sent, sent]);
    expect(end.requests.some((request) => request.upgrade)).toBe(false);
    expect(end.stdout).toContain("GUARDLOOP_PROMPT=");
    expect(end.stdout).not.toContain("from-");
  });

  test("codex without OPENAI_BASE_URL uses its own provider, with the key from OPENAI_API_KEY", async () => {
    const end = await runInContainer({
      adapter: codex,
      // The built-in provider's own address setting: a test has no other way to see what it sends.
      request: { extraArgs: ["-c", "openai_base_url=http://127.0.0.1:8080/v1"] },
      prompt,
      steps,
      env: { OPENAI_API_KEY: "from-openai" },
    });

    expectSuccess(end);
    expect(new Set(end.requests.map((request) => request.authorization))).toEqual(
      new Set(["Bearer from-openai"]),
    );
  });

  test.each([
    [{ ANTHROPIC_API_KEY: "key" }, { apiKey: "key", authorization: null }],
    [{ CLAUDE_CODE_OAUTH_TOKEN: "token" }, { apiKey: null, authorization: "Bearer token" }],
    [{ ANTHROPIC_AUTH_TOKEN: "token" }, { apiKey: null, authorization: "Bearer token" }],
  ])("claude with %j sends it", async (keys, sent) => {
    const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:8080", ...keys };
    const end = await runInContainer({ adapter: claude, request: {}, prompt, steps, env });

    expectSuccess(end);
    expect(end.requests.at(-1)).toMatchObject(sent);
  });
});
