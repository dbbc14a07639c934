import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type World, GOOD_AGENT, checkoutDigest, makeWorld } from "../rig/world.ts";

interface Explained {
  readonly reaches: readonly { readonly what: string; readonly names: readonly string[] }[];
  readonly leaks: readonly { readonly what: string; readonly names: readonly string[] }[];
  readonly credentials: readonly { readonly where: string; readonly what: string }[];
  readonly files: Readonly<Record<string, unknown>>;
  readonly loosened: readonly { readonly key: string; readonly where: string }[];
  readonly refusal: { readonly code: string; readonly cure: string } | null;
}

async function explained(world: World, flags: readonly string[] = []): Promise<Explained> {
  const ended = await world.guardloop(["explain", "--json", ...flags]);
  expect(ended.code, ended.stderr).toBe(0);
  return JSON.parse(ended.stdout) as Explained;
}

const KEY = "sk-never-to-be-printed-0123456789";

describe("guardloop explain", () => {
  test("says what a run would open, without an engine, an image or a clean checkout, and changes nothing", async () => {
    using world = makeWorld();
    world.faults({ daemonGone: true, imageMissing: true });
    world.write("src/app.txt", "changed meanwhile\n");
    const before = checkoutDigest(world);

    const ended = await world.guardloop(["explain", "--agent", "command", "--", "true"]);

    expect(ended.code, ended.stderr).toBe(0);
    for (const text of [
      "Network none, command, commit",
      "every earlier commit that leads to it",
      "nothing: its only interface is loopback",
      "nobody: what comes out are patches and artifacts",
    ])
      expect(ended.stdout).toContain(text);
    expect(ended.stdout).not.toContain("would be refused");
    expect(world.dockerCalls()).toEqual([]);
    expect(existsSync(world.state)).toBe(false);
    expect(checkoutDigest(world)).toBe(before);
  });

  test("through the gateway: the model API alone, and a credential that stays here and is not printed", async () => {
    using world = makeWorld();
    const flags = ["--agent", "codex", "--network", "gateway", "--budget-usd", "5"];
    const env = { OPENAI_API_KEY: KEY };
    const said = await explained(world, flags);
    expect(said.reaches.map(({ what, names }) => [what, names])).toEqual([
      ["model-api", ["https://api.openai.com/v1"]],
    ]);
    expect(said.leaks.map(({ what, names }) => [what, names])).toEqual([
      ["model-provider", ["api.openai.com"]],
    ]);
    expect(said.credentials).toMatchObject([{ where: "host", what: "env:OPENAI_API_KEY" }]);
    expect(said.refusal).toBeNull();

    const ended = await world.guardloop(["explain", ...flags], { env });
    expect(ended.stdout).toContain("stays in guardloop's memory on this host");
    expect(ended.stdout).toContain("budget: 5 US dollars a run");
    expect(`${ended.stdout}${ended.stderr}`).not.toContain(KEY);
  });

  test("two agents through the gateway have two providers, each with its credential", async () => {
    using world = makeWorld();
    const said = await explained(world, ["--agent", "codex,claude", "--network", "gateway"]);
    expect(said.credentials.map(({ what }) => what)).toEqual([
      "env:OPENAI_API_KEY",
      "env:ANTHROPIC_API_KEY",
    ]);
    expect(said.leaks.flatMap(({ names }) => names)).toEqual([
      "api.openai.com",
      "api.anthropic.com",
    ]);
  });

  test("an open network: anybody, and every variable that is passed", async () => {
    using world = makeWorld();
    const flags = ["--agent", "codex", "--network", "bridge", "--pass-env", "OPENAI_API_KEY"];
    const said = await explained(world, flags);
    expect(said.reaches.map(({ what }) => what)).toEqual([
      "internet",
      "local-network",
      "host-services",
      "cloud-metadata",
    ]);
    expect(said.leaks.map(({ what }) => what)).toEqual(["anybody"]);
    expect(said.credentials).toMatchObject([{ where: "container", what: "OPENAI_API_KEY" }]);
  });

  test("says of Docker that the link-local metadata addresses are blocked, and of Podman that they are not", async () => {
    using world = makeWorld();
    const metadata = async (engine: string) => {
      const said = await explained(world, ["--network", "bridge", "--engine", engine]);
      return said.reaches.find(({ what }) => what === "cloud-metadata")?.names;
    };
    expect(await metadata("docker")).not.toContain("169.254.169.254");
    expect(await metadata("podman")).toContain("169.254.169.254");
  });

  test("says of files that may hold secrets which come in, and why the others do not", async () => {
    using world = makeWorld();
    world.write(".gitignore", ".env\nlocal/\n");
    world.write("deploy/prod.env.key", "tracked\n");
    world.commit("A key that is tracked");
    world.write(".env", "TOKEN=1\n");
    world.write("local/notes.txt", "notes\n");
    world.write("local/more.txt", `GITHUB_TOKEN=ghp_${"a1B2".repeat(9)}\n`);

    const globbed = await explained(world, ["--overlay", "**"]);
    expect(globbed.files).toEqual({
      inCommit: ["deploy/prod.env.key"],
      letIn: [{ path: "local/notes.txt", rule: "**" }],
      keptOut: [
        { path: ".env", rule: "looks like a secret by its name" },
        { path: "local/more.txt", rule: expect.stringContaining("holds what looks like") },
      ],
      othersKeptOut: 0,
    });
    const byName = await explained(world, ["--overlay", ".env"]);
    expect(byName.files).toMatchObject({ letIn: [{ path: ".env", rule: ".env" }] });
  });

  test("names each value that loosens the boundary with where it was set", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", '[agent]\nname = "codex"\n[container]\nmemory = "1g"\n');
    world.commit("Configure");
    const flags = ["--network", "gateway", "--allow-host", "registry.example.org"];
    const said = await explained(world, flags);
    expect(said.loosened.map(({ key, where }) => [key, where])).toEqual([
      ["network.mode", "--network"],
      ["network.allow_hosts", "--allow-host"],
    ]);
  });

  test("says why a run with these settings would not begin", async () => {
    using world = makeWorld();
    const said = await explained(world, ["--agent", "claude"]);
    expect(said.refusal).toMatchObject({
      code: "network-required",
      cure: expect.stringMatching(/--network gateway.*--network bridge.*--agent command/),
    });
    const ended = await world.guardloop(["explain"]);
    expect(ended.stdout).toContain("would be refused: No agent is configured.");
  });

  test("outside of a repository it says so", async () => {
    using world = makeWorld();
    const ended = await world.guardloop(["explain"], { cwd: world.root });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("is not inside a Git working tree");
  });
});

describe("the start of a run says the short form", () => {
  test("without a network: that nothing leaves the container, and which tracked files look like credentials", async () => {
    using world = makeWorld();
    world.write(".env.example", "TOKEN=\n");
    world.commit("An example");
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain("Network none: the container reaches nothing");
    expect(ended.stderr).toContain("look like credentials: .env.example.");
  });

  test("with an open network: everything that it exposes, by name", async () => {
    using world = makeWorld();
    const ended = await world.run(GOOD_AGENT, ["--network", "bridge", "--pass-env", "WANTED"], {
      env: { WANTED: "something" },
    });
    expect(ended.code, ended.stderr).toBe(0);
    for (const text of [
      "Network mode bridge: the container gets a real network.",
      "readable by everything in it: WANTED.",
      "cloud's metadata service",
      "100.100.100.200",
      "--network gateway",
    ])
      expect(ended.stderr).toContain(text);
  });
});
