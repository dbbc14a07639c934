import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readTar } from "../../src/files/tar.ts";
import { succeed } from "../rig/lifecycle.ts";
import { type World, GOOD_AGENT, leftovers, makeWorld, runsOf } from "../rig/world.ts";

/** A program named codex that answers the question for its version in its own way, and else does its task. */
function installCodex(world: World, answer: string, agent = GOOD_AGENT): void {
  const script = `#!/bin/sh\ncase "$1" in --version) ${answer};; esac\n${agent}`;
  writeFileSync(join(world.bin, "codex"), script, { mode: 0o755 });
}

async function runCodex(world: World, flags: readonly string[] = [], env = {}) {
  const bridge = ["--network", "bridge", ...flags];
  const ended = await world.guardloop(["run", "--agent", "codex", ...bridge], { env });
  const shown = await succeed(world, ["show", "@last", "--json"]);
  const { run } = JSON.parse(shown.stdout) as {
    run: { state: string; agentVersion: string | null };
  };
  return { ended, run };
}

describe("the version of an agent", () => {
  test("is asked before it starts, and stands in show, the manifest and the provenance", async () => {
    using world = makeWorld();
    installCodex(world, "echo codex-cli 1.2.3; echo more; exit 0");
    const { run } = await runCodex(world);
    expect(run).toMatchObject({ state: "ready", agentVersion: "codex-cli 1.2.3" });
    const page = (await succeed(world, ["show", "@last"])).stdout;
    expect(page).toMatch(/^Agent +codex \(codex-cli 1\.2\.3\), network bridge$/m);
    const [one] = await runsOf(world);
    const id = one?.id ?? "";
    const manifest = readFileSync(join(world.state, "runs", id, "artifacts/manifest.json"), "utf8");
    expect(JSON.parse(manifest)).toMatchObject({ versions: { agent: "codex-cli 1.2.3" } });
    const archive = join(world.root, "run.tar.gz");
    await succeed(world, ["export", "@last", "--output", archive]);
    const [provenance] = readTar(gunzipSync(readFileSync(archive))) ?? [];
    expect(JSON.parse(provenance?.bytes.toString() ?? "")).toMatchObject({
      agent: { name: "codex", version: "codex-cli 1.2.3" },
    });
  });

  test("is known of a run that failed, too", async () => {
    using world = makeWorld();
    installCodex(world, "echo codex-cli 1.2.3; exit 0", "exit 3");
    const { run } = await runCodex(world);
    expect(run).toEqual(
      expect.objectContaining({ state: "failed", agentVersion: "codex-cli 1.2.3" }),
    );
  });

  test.each([
    ["fails", "echo 1; exit 1"],
    ["says nothing", "exit 0"],
    ["never answers, and leaves something behind", "sleep 60 & sleep 60; exit 0"],
  ])("of a program that %s is not known, and the run goes on", async (_, answer) => {
    using world = makeWorld();
    installCodex(world, answer);
    const { run } = await runCodex(world);
    expect(run).toMatchObject({ state: "ready", agentVersion: null });
    expect(leftovers(world)).toEqual([]);
  });

  test("is text from the container: bounded, harmless to print, and without a credential in use", async () => {
    using world = makeWorld();
    const evil = String.raw`printf 'v1 \033[2J %s ' "$TOKEN"; head -c 100000 /dev/zero | tr '\0' x; exit 0`;
    installCodex(world, evil);
    const env = { TOKEN: "tok-4711-abcdefgh" };
    const { run } = await runCodex(world, ["--pass-env", "TOKEN"], env);
    expect(run.agentVersion).toMatch(
      /^v1 <U\+001B>\[2J \[redacted: TOKEN of the environment\] x{60,200}$/,
    );
    expect(run.agentVersion?.length).toBeLessThanOrEqual(200);
  });

  test("of a command is not asked: with an argument it does not know it might do its whole work", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const shown = await succeed(world, ["show", "@last"]);
    expect(shown.stdout).toMatch(/^Agent +command, network none$/m);
  });
});
