import { describe, expect, test } from "vitest";
import { PLACEHOLDER_KEY, type ProviderName, RELAY_PORTS } from "../../src/core/network.ts";
import type { AgentEvent, LaunchRequest } from "../../src/agents/port.ts";
import { agentAdapter } from "../../src/agents/registry.ts";
import type { ModelStep, SeenRequest } from "../rig/model-api/model-api.mjs";
import { type ContainerTask, type TaskEnd, runInContainer } from "./container-task.ts";
import { HOSTILE_PROJECT } from "./hostile-project.ts";

/** Where the model API is for a program in the network mode `gateway`; the scripted one listens there itself. */
const AT_GATEWAY = { MODEL_PORT: String(RELAY_PORTS.model) };

const FINISH =
  'cd /workspace && echo new > greeting.txt && git add -A . && git commit -q -m "Say new" && ' +
  'echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt" && echo "Say new" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"';
const TASK: readonly ModelStep[] = [
  { think: "First look.", say: "I look at the file.", run: "cat greeting.txt" },
  { write: { path: "/workspace/notes.md", content: "# Notes\n\nTwo lines.\n" } },
  { run: FINISH },
  { say: "All done." },
];

const PROGRAMS = [
  { name: "codex", provider: "openai", path: "/v1/responses", told: "/workspace/AGENTS.md" },
  { name: "claude", provider: "anthropic", path: "/v1/messages" },
  { name: "gemini", provider: "gemini", path: ":streamGenerateContent" },
  { name: "opencode", provider: "compatible", path: "/v1/chat/completions" },
  { name: "opencode", provider: "openai", path: "/v1/responses" },
  { name: "opencode", provider: "anthropic", path: "/v1/messages" },
  { name: "opencode", provider: "gemini", path: ":streamGenerateContent" },
] as const;

type Task = Pick<ContainerTask, "steps"> & Partial<ContainerTask>;

function behindGateway(
  {
    name,
    provider,
  }: { readonly name: (typeof PROGRAMS)[number]["name"]; readonly provider: ProviderName },
  task: Task,
): Promise<TaskEnd> {
  const origin = `http://127.0.0.1:${RELAY_PORTS.model}`;
  const request: Partial<LaunchRequest> = {
    modelApi: { provider, origin, placeholderKey: PLACEHOLDER_KEY },
  };
  return runInContainer({
    adapter: agentAdapter(name),
    request,
    prompt: "---\nA prompt may begin with dashes. Change greeting.txt to say new.\n",
    env: AT_GATEWAY,
    ...task,
  });
}

/** With what the program said, when it failed. */
function expectSuccess(end: TaskEnd): void {
  expect(end.code === 0 ? "success" : `exit ${end.code}: ${end.stdout}${end.stderr}`).toBe(
    "success",
  );
}

/** The requests that carry on the conversation, without side questions. */
function turns(end: TaskEnd, path: string): readonly SeenRequest[] {
  return end.requests.filter((request) => request.path.endsWith(path));
}

function said(end: TaskEnd): readonly string[] {
  return end.events.flatMap((event) => (event.type === "message" ? [event.text] : []));
}

function only<Type extends AgentEvent["type"]>(end: TaskEnd, type: Type) {
  return end.events.filter(
    (event): event is Extract<AgentEvent, { type: Type }> => event.type === type,
  );
}

describe.each(PROGRAMS)("the published $name with a model API of the kind $provider", (program) => {
  test("does a whole task with a placeholder, and its stream becomes our events", async () => {
    const end = await behindGateway(program, { steps: TASK });

    expectSuccess(end);
    expect(end.artifacts["git-subject.txt"]).toBe("Say new\n");
    expect(end.artifacts["git-greeting.txt"]).toBe("new\n");
    expect(end.artifacts["git-files.txt"]).toBe("greeting.txt\nnotes.md\n");
    expect(end.artifacts["selected-task-id.txt"]).toBe("T1\n");
    expect(only(end, "session")).toHaveLength(1);
    expect(said(end)).toEqual(["I look at the file.", "All done."]);
    expect(only(end, "command").map(({ command }) => command)).toEqual([
      expect.stringContaining("cat greeting.txt"),
      expect.stringContaining("git commit"),
    ]);
    expect(only(end, "command-result")[0]?.output).toContain("old");
    expect(only(end, "file-change").map(({ path }) => path)).toEqual(["/workspace/notes.md"]);
    expect(only(end, "usage")).toEqual([
      expect.objectContaining({ outputTokens: expect.any(Number) }),
    ]);
    expect(only(end, "usage")[0]?.outputTokens).toBeGreaterThanOrEqual(40);
    expect(kinds(end)).not.toContain("output");
    expect(kinds(end)).not.toContain("error");
    for (const request of end.requests) expect(keyOf(request)).toBe(PLACEHOLDER_KEY);
  });
});

function kinds(end: TaskEnd): readonly string[] {
  return end.events.map((event) => event.type);
}

function keyOf({ apiKey, authorization }: SeenRequest): string | undefined {
  return apiKey ?? authorization?.replace(/^Bearer /, "");
}

/** It cannot be kept from these: docs/adr/0011-opencode-plugins.md. */
const PLUGINS_OF_OPENCODE = [
  "marker-opencode-named-plugin",
  "marker-opencode-plugin",
  "marker-opencode-plugins",
];

const ONE_EACH = PROGRAMS.slice(0, 4);

describe.each(ONE_EACH)("the published $name in a project that would lead it astray", (program) => {
  test("asks nobody else, runs nothing of the project's, is not locked, and knows its AGENTS.md or the like", async () => {
    const words = "Always say ahoy.";
    const memory = { "AGENTS.md": words, "CLAUDE.md": words, "GEMINI.md": words };

    const end = await behindGateway(program, {
      steps: TASK,
      files: { ...HOSTILE_PROJECT, ...memory },
    });

    expectSuccess(end);
    expect(end.artifacts["git-greeting.txt"]).toBe("new\n");
    const obeyed = Object.keys(end.artifacts).filter((name) => name.startsWith("marker"));
    expect(obeyed).toEqual(program.name === "opencode" ? PLUGINS_OF_OPENCODE : []);
    expect(end.artifacts["elsewhere.jsonl"]).toBeUndefined();
    for (const request of end.requests) expect(keyOf(request)).toBe(PLACEHOLDER_KEY);
    expect(JSON.stringify(end.requests)).not.toContain("another-model");
    const told = "told" in program ? program.told : words;
    expect(JSON.stringify(turns(end, program.path))).toContain(told);
  });
});

describe.each(ONE_EACH)("the published $name, woken again", (program) => {
  test("goes on with its session: what was said before is there", async () => {
    const end = await behindGateway(program, {
      steps: [
        { run: "echo first turn" },
        { say: "I stop here." },
        { run: FINISH },
        { say: "Now I am done." },
      ],
      prompt: "This is the first thing.",
      thenPrompt: "--remember the artifacts.",
    });

    expectSuccess(end);
    expect(end.artifacts["git-greeting.txt"]).toBe("new\n");
    expect(said(end)).toEqual(["I stop here.", "Now I am done."]);
    const last = JSON.stringify(turns(end, program.path).at(-1)?.body);
    for (const words of [
      "This is the first thing.",
      "echo first turn",
      "I stop here.",
      "--remember the artifacts.",
    ])
      expect(last).toContain(words);
  });
});

describe.each(ONE_EACH)("the published $name, when the model API", (program) => {
  test.each([
    [401, "authentication"],
    [429, "rate-limit"],
  ] as const)("answers %i: an error with the cause %s", async (status, cause) => {
    const end = await behindGateway(program, {
      steps: [{ status, say: "not now", headers: { "retry-after": "0" } }],
      env: { ...AT_GATEWAY, ...FEW_ATTEMPTS },
    });

    expect(only(end, "error")).toContainEqual(expect.objectContaining({ cause }));
    expect(end.code).not.toBe(0);
    expect(kinds(end)).not.toContain("output");
  });
});

/** The programs try again for minutes otherwise. */
const FEW_ATTEMPTS = { CLAUDE_CODE_MAX_RETRIES: "1" };
