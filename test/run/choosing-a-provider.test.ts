import { describe, expect, test } from "vitest";
import { agentAdapter } from "../../src/agents/registry.ts";
import type { FlagValues } from "../../src/config/text-layer.ts";
import { checkNetwork, networkNotices } from "../../src/run/choice/network.ts";
import { chooseProvider } from "../../src/run/choice/provider.ts";
import { loaded } from "../config/load-rig.ts";

const settings = (flags: FlagValues) => loaded({ flags }).settings;
const GATEWAY = { "network.mode": "gateway" } as const;

describe("the model API of a run through the gateway", () => {
  test.each([
    ["codex", {}, { provider: "openai", credential: "env:OPENAI_API_KEY" }],
    ["claude", {}, { provider: "anthropic", credential: "env:ANTHROPIC_API_KEY" }],
    ["gemini", {}, { provider: "gemini", credential: "env:GEMINI_API_KEY" }],
    [
      "opencode",
      { "gateway.provider": "anthropic", "credential.anthropic": "file:/run/key" },
      { provider: "anthropic", credential: "file:/run/key" },
    ],
    [
      "codex",
      { "gateway.provider": "compatible", "upstream.compatible": "http://127.0.0.1:11434/v1/" },
      { provider: "compatible", credential: null, upstream: "http://127.0.0.1:11434/v1" },
    ],
    ["command", { "gateway.provider": "openai" }, { upstream: "https://api.openai.com/v1" }],
  ] as const)("of %s, with %j", (name, flags, expected) => {
    const chosen = chooseProvider(agentAdapter(name), settings({ ...GATEWAY, ...flags }));
    expect(chosen).toMatchObject({ ok: true, value: expected });
  });

  test("is none for a local agent that only wants the allowed hosts", () => {
    const flags = { ...GATEWAY, "network.allow_hosts": ["registry.example.org"] };
    expect(chooseProvider(agentAdapter("command"), settings(flags))).toEqual({
      ok: true,
      value: null,
    });
  });

  test.each([
    ["claude", { "gateway.provider": "openai" }, "The agent claude cannot work with OpenAI's API."],
    [
      "codex",
      { "gateway.provider": "compatible" },
      "Nothing says where a server that speaks OpenAI's API is: upstream.compatible is empty.",
    ],
    [
      "command",
      {},
      "The agent command has no model API of its own, and none is named for the gateway.",
    ],
  ] as const)("of %s with %j is refused", (name, flags, message) => {
    const chosen = chooseProvider(agentAdapter(name), settings({ ...GATEWAY, ...flags }));
    expect(chosen).toMatchObject({ ok: false, error: { code: "config-invalid", message } });
  });
});

describe("settings about the network that contradict each other", () => {
  test.each([
    [
      "the gateway's own key is passed into the container",
      "codex",
      { ...GATEWAY, "agent.pass_env": ["OPENAI_API_KEY"] },
      /OPENAI_API_KEY is what the gateway keeps on this host/,
    ],
    [
      "hosts are allowed without a network",
      "command",
      { "network.allow_hosts": ["example.org"] },
      /--allow-host example\.org has no meaning: with network none no host/,
    ],
    [
      "hosts are allowed where all can be reached",
      "codex",
      { "network.mode": "bridge", "network.allow_hosts": ["example.org"] },
      /with network bridge every host can be reached/,
    ],
    [
      "a budget that nobody counts",
      "codex",
      { "network.mode": "bridge", "budget.all_usd": "5" },
      /with network bridge nobody counts/,
    ],
  ] as const)("%s", (_what, name, flags, message) => {
    expect(checkNetwork(agentAdapter(name), settings(flags))).toMatchObject({
      ok: false,
      error: { code: "config-invalid", message: expect.stringMatching(message) },
    });
  });

  test("another key of a model API is passed with a remark, not refused", () => {
    const other = settings({ ...GATEWAY, "agent.pass_env": ["ANTHROPIC_API_KEY", "CI_MODE"] });
    expect(checkNetwork(agentAdapter("codex"), other)).toMatchObject({ ok: true });
    expect(networkNotices(other)).toEqual([
      "ANTHROPIC_API_KEY looks like a key of a model API and is passed into the container: through the gateway the agent needs none there.",
    ]);
  });

  test("a hosted agent without a network hears of the gateway first", () => {
    const refused = checkNetwork(agentAdapter("claude"), settings({}));
    const cure = refused.ok ? "" : refused.error.cure;
    const places = ["--network gateway", "--network bridge", "--agent command"].map((way) =>
      cure.indexOf(way),
    );
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});
