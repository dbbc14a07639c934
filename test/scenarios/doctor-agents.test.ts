import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Upstream, startUpstream } from "../rig/upstream.ts";
import { type World, installAgent, makeWorld } from "../rig/world.ts";

interface Check {
  readonly name: string;
  readonly verdict: string;
  readonly text: string;
  readonly cure: string | null;
}

const KEY = "sk-canary-0123456789abcdef";

interface Examined {
  readonly checks: readonly Check[];
  /** Of this name, the first that is about the agent and not the settings. */
  readonly of: (name: string) => Check | undefined;
  readonly said: string;
  readonly code: number | null;
}

async function doctor(
  world: World,
  flags: readonly string[],
  env: Record<string, string> = {},
): Promise<Examined> {
  const ended = await world.guardloop(["doctor", "--json", ...flags], { env });
  const { checks } = JSON.parse(ended.stdout) as { checks: readonly Check[] };
  return {
    checks,
    of: (name) => checks.find((check) => check.name === name),
    said: `${ended.stdout}${ended.stderr}`,
    code: ended.code,
  };
}

const agentLines = ({ checks }: Examined) => checks.filter(({ name }) => name === "agent").slice(1);

/** A model API that takes one key. */
function modelApi(): Promise<Upstream> {
  return startUpstream(({ headers }, response) => {
    const isRight = headers.authorization === `Bearer ${KEY}`;
    response.writeHead(isRight ? 200 : 401, { "content-type": "application/json" });
    response.end(isRight ? '{"data":[]}' : "{}");
  });
}

function codexAt(api: Upstream): readonly string[] {
  return ["--agent", "codex", "--network", "gateway", "--openai-url", `${api.url}/v1`];
}

describe("doctor, about an agent that reaches its model through the gateway", () => {
  test("finds program, credential and model API; the key goes to the API, and into nothing that is said", async () => {
    using world = makeWorld();
    installAgent(world, "codex", "exit 1");
    await using api = await modelApi();

    const examined = await doctor(world, codexAt(api), { OPENAI_API_KEY: KEY });

    expect(examined.of("credential")).toMatchObject({
      verdict: "ok",
      text: "codex: env:OPENAI_API_KEY, found; it stays on this host",
    });
    expect(examined.of("model api")).toMatchObject({
      verdict: "ok",
      text: expect.stringContaining("gave its list of models"),
    });
    expect(api.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET /v1/models"]);
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(examined.checks.filter(({ verdict }) => verdict === "problem")).toEqual([]);
    expect(examined.code).toBe(0);
    expect(examined.said).not.toContain(KEY);
    expect(JSON.stringify(world.dockerCalls())).not.toContain(KEY);
  });

  test("leaves no socket", async () => {
    using world = makeWorld();
    await using api = await modelApi();
    const runtime = join(world.root, "run");
    mkdirSync(runtime, { mode: 0o700 });
    await doctor(world, codexAt(api), { OPENAI_API_KEY: KEY, XDG_RUNTIME_DIR: runtime });
    expect(api.requests).toHaveLength(1);
    expect(readdirSync(runtime, { recursive: true })).toEqual(["guardloop"]);
  });

  test("says that the credential was refused, and by whom", async () => {
    using world = makeWorld();
    installAgent(world, "codex", "exit 1");
    await using api = await modelApi();
    const examined = await doctor(world, codexAt(api), { OPENAI_API_KEY: "sk-old-0123456789" });
    const host = new URL(api.url).host;
    expect(examined.of("model api")).toMatchObject({
      verdict: "problem",
      text: `The credential of credential.openai = env:OPENAI_API_KEY was refused: ${host} answered 401.`,
    });
    expect(examined.code).toBe(3);
    expect(examined.said).not.toContain("sk-old");
  });

  test("says that a server wants a credential where none is configured", async () => {
    using world = makeWorld();
    await using api = await modelApi();
    const flags = ["--provider", "compatible", "--compatible-url", `${api.url}/v1`];
    const gateway = ["--agent", "command", "--network", "gateway"];
    const examined = await doctor(world, [...gateway, ...flags]);
    expect(examined.of("credential")?.text).toContain("none is configured");
    expect(examined.of("model api")?.text).toContain("and credential.compatible names none.");
  });

  test("a credential that is not there is a problem, and nobody is asked", async () => {
    using world = makeWorld();
    await using api = await modelApi();
    const examined = await doctor(world, codexAt(api));
    expect(examined.of("credential")).toMatchObject({
      verdict: "problem",
      text: expect.stringContaining("the variable OPENAI_API_KEY is not set"),
    });
    expect(examined.of("model api")).toBeUndefined();
    expect(api.requests).toEqual([]);
  });

  test("an API that cannot be reached is named with why", async () => {
    using world = makeWorld();
    const free = createServer();
    await new Promise<void>((resolve) => void free.listen(0, "127.0.0.1", resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    const flags = ["--agent", "codex", "--network", "gateway"];
    const examined = await doctor(
      world,
      [...flags, "--openai-url", `http://127.0.0.1:${port}/v1`],
      { OPENAI_API_KEY: KEY },
    );
    expect(examined.of("model api")).toMatchObject({
      verdict: "problem",
      text: expect.stringMatching(/127\.0\.0\.1:\d+ could not be reached.*ECONNREFUSED/),
    });
  });

  test("an answer that is neither yes nor no is a warning", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) => response.writeHead(404).end());
    const examined = await doctor(world, codexAt(api), { OPENAI_API_KEY: KEY });
    expect(examined.of("model api")).toMatchObject({
      verdict: "warning",
      text: expect.stringContaining("answered 404"),
    });
  });
});

describe("doctor, about the program of an agent", () => {
  test("tells a version that is not the one that was tried", async () => {
    using world = makeWorld();
    installAgent(world, "claude", "exit 1");
    const examined = await doctor(world, ["--agent", "claude"]);
    expect(agentLines(examined)).toContainEqual(
      expect.objectContaining({
        verdict: "warning",
        text: expect.stringMatching(
          /^claude is in the image as 1\.0\.0 \(scripted\), and this guardloop was tried with \d/,
        ),
        cure: expect.stringContaining("guardloop image build --agent claude"),
      }),
    );
  });

  test("says that it is not in the image", async () => {
    using world = makeWorld();
    const examined = await doctor(world, ["--agent", "opencode"]);
    expect(agentLines(examined)).toContainEqual(
      expect.objectContaining({
        verdict: "problem",
        text: "The program of opencode is not in the image guardloop-agent.",
      }),
    );
  });

  test("without a network a hosted agent is a problem, and nothing is sent anywhere", async () => {
    using world = makeWorld();
    await using api = await modelApi();
    const flags = ["--agent", "codex", "--openai-url", `${api.url}/v1`];
    const examined = await doctor(world, flags, { OPENAI_API_KEY: KEY });
    expect(agentLines(examined)[0]).toMatchObject({
      verdict: "problem",
      cure: expect.stringMatching(/^Pass --network gateway/),
    });
    expect(api.requests).toEqual([]);
  });

  test("a local command needs nothing", async () => {
    using world = makeWorld();
    const examined = await doctor(world, ["--agent", "command"]);
    expect(agentLines(examined)).toEqual([]);
    expect(examined.code).toBe(0);
  });
});

describe("doctor, about prices", () => {
  const local = (api: Upstream): readonly string[] => {
    const flags = "--agent command --network gateway --provider compatible --compatible-url";
    return [...flags.split(" "), `${api.url}/v1`];
  };

  test("a price table that cannot be read is a problem, with its place", async () => {
    using world = makeWorld();
    await using api = await modelApi();
    const config = join(world.root, "config/guardloop");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "prices.toml"), '["m"]\ninput = "free"\n');
    const examined = await doctor(world, local(api));
    expect(examined.of("prices")).toMatchObject({
      verdict: "problem",
      text: expect.stringMatching(/prices\.toml:2:\d/),
    });
  });

  test.each([
    ["no price", "some-local-model", "problem", "has no price"],
    ["a price of the user's", "priced-1", "ok", "priced-1 has a price"],
    ["no name", "", "warning", "no model is named"],
  ])("with a budget of money, a model with %s", async (_, model, verdict, text) => {
    using world = makeWorld();
    await using api = await modelApi();
    const config = join(world.root, "config/guardloop");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "prices.toml"), '["priced-1"]\ninput = 1\noutput = 2\n');
    const examined = await doctor(world, [...local(api), "--budget-usd", "2", "--model", model]);
    expect(examined.of("prices")).toMatchObject({
      verdict,
      text: expect.stringContaining(text),
    });
  });
});
