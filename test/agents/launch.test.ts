import { describe, expect, test } from "vitest";
import { agentAdapter } from "../../src/agents/registry.ts";
import type { LaunchRequest } from "../../src/agents/port.ts";

const REQUEST: LaunchRequest = {
  promptPath: "/guardloop/prompt.md",
  prompt: "Do the task.",
  model: undefined,
  extraArgs: [],
};

test("command runs what follows the dashes, word for word", () => {
  const extraArgs = ["./agent.sh", "--flag", "two words", "$HOME"];

  expect(agentAdapter("command").launch({ ...REQUEST, extraArgs })).toEqual({
    argv: extraArgs,
    env: {},
    homeFiles: {},
  });
});

test.each([
  ["openai", { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_API_KEY: "stand-in" }],
  ["compatible", { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_API_KEY: "stand-in" }],
  ["anthropic", { ANTHROPIC_BASE_URL: "http://127.0.0.1:1", ANTHROPIC_API_KEY: "stand-in" }],
  ["gemini", { GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1", GEMINI_API_KEY: "stand-in" }],
] as const)("command finds %s through the gateway where programs look for it", (provider, env) => {
  const modelApi = { provider, origin: "http://127.0.0.1:1", placeholderKey: "stand-in" };
  const launched = agentAdapter("command").launch({ ...REQUEST, extraArgs: ["true"], modelApi });

  expect(launched.env).toEqual(env);
});

test("command without a program is a bug of the caller", () => {
  expect(() => agentAdapter("command").launch(REQUEST)).toThrow("without a program");
});

test("only command is local; the others name the variables they need", () => {
  const facts = (["command", "codex", "claude"] as const).map((name) => {
    const { kind, credentialNames } = agentAdapter(name);
    return { name, kind, needs: credentialNames[0] };
  });

  expect(facts).toEqual([
    { name: "command", kind: "local", needs: undefined },
    { name: "codex", kind: "hosted", needs: "OPENAI_API_KEY" },
    { name: "claude", kind: "hosted", needs: "ANTHROPIC_API_KEY" },
  ]);
});

describe.each(["codex", "claude"] as const)("%s", (name) => {
  const launch = (request: Partial<LaunchRequest>) =>
    agentAdapter(name).launch({ ...REQUEST, ...request });

  test("gets the prompt as last argument, behind dashes", () => {
    const prompt = "--help\nis how this prompt begins";

    expect(launch({ prompt }).argv.slice(-2)).toEqual(["--", prompt]);
  });

  test("takes a model and further arguments before the prompt, and names no model by itself", () => {
    const { argv } = launch({ model: "m-1", extraArgs: ["--a", "b"] });

    expect(argv.slice(-6)).toEqual(["--model", "m-1", "--a", "b", "--", "Do the task."]);
    expect(launch({}).argv).not.toContain("--model");
  });

  test.each([
    ["too long for an argument", "ä".repeat(60_000)],
    ["with a NUL in it", "a\0b"],
  ])("reads a prompt %s from its file", (_why, prompt) => {
    const { argv } = launch({ prompt });

    expect(argv.at(-1)).toContain("/guardloop/prompt.md");
    expect(argv.every((argument) => Buffer.byteLength(argument) < 1000)).toBe(true);
  });

  test("gets a prompt of 100 KiB as it is", () => {
    const prompt = "x".repeat(100 * 1024);

    expect(launch({ prompt }).argv.at(-1)).toBe(prompt);
  });
});

test("claude is kept from updating itself and from talking to anyone but the model API", () => {
  expect(agentAdapter("claude").launch(REQUEST).env).toEqual({
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  });
});

describe.each(["codex", "claude", "gemini", "opencode"] as const)(
  "%s behind the gateway",
  (name) => {
    const adapter = agentAdapter(name);
    const [provider = "openai"] = adapter.providers;
    const request: LaunchRequest = {
      ...REQUEST,
      modelApi: { provider, origin: "http://127.0.0.1:41080", placeholderKey: "placeholder" },
    };

    test("gets the address and the placeholder, and says that its own sandbox is off", () => {
      const launch = adapter.launch(request);

      expect(JSON.stringify(launch)).toContain("http://127.0.0.1:41080");
      expect(JSON.stringify(launch.env)).toContain("placeholder");
      expect(launch.innerSandbox).toMatch(/^off on purpose/);
    });

    test("goes on with its session, with the same options and another prompt", () => {
      const first = adapter.launch(request).argv;
      const next = adapter.resume?.({ ...request, prompt: "--and now?" }) ?? [];

      expect(next.at(-1)).toMatch(/^(?:--prompt=)?--and now\?$/);
      expect(next.some((word) => /continue|resume/.test(word))).toBe(true);
      for (const word of first.slice(0, -1)) expect(next).toContain(word);
    });

    test("is offered a web search only where that is allowed by name", () => {
      const allowed = { ...request, serverTools: ["web_search", "google_search"] };
      const words = (of: LaunchRequest) => JSON.stringify(adapter.launch(of));

      // opencode's is not the provider's.
      const changes = name !== "opencode";
      expect(words(allowed) !== words(request)).toBe(changes);
    });
  },
);
