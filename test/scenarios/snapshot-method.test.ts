import { readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, letMountOverlays, makeWorld, runsOf } from "../rig/world.ts";

const isRoot = process.getuid?.() === 0;

/** How often a container was started to try layers. */
function trials(world: World): number {
  return world
    .dockerCalls()
    .filter(({ argv }) => argv.some((one) => one.startsWith("--name=guardloop-overlay-check-")))
    .length;
}

async function methodOf(world: World) {
  const { snapshotMethod } = (await show(world)) as unknown as {
    snapshotMethod: { method: string; why: string };
  };
  return snapshotMethod;
}

/** Whether this machine's file system clones files decides what is taken instead of layers. */
const WITHOUT_LAYERS = /^(?:copy|reflink)$/;

describe("how a snapshot gets its files", () => {
  test("where the engine mounts no layers another way is taken, which the record explains; it is tried once", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const first = await methodOf(world);
    expect(first.method).toMatch(WITHOUT_LAYERS);
    expect(first.why).toContain("Docker started no container over layers");
    expect(first.why).toContain("failed to mount local volume");
    const shown = await succeed(world, ["show", "@last"]);
    expect(shown.stdout).toContain(`Files       ${first.method}  no layers, since Docker`);
    await world.run(GOOD_AGENT);
    expect(await methodOf(world)).toEqual(first);
    expect(trials(world)).toBe(1);
  });

  test("`doctor` says which way it is, and tries again what did not work", async () => {
    using world = makeWorld();
    const early = await world.guardloop(["doctor"]);
    expect(early.stdout).not.toMatch(/^ok +snapshot/m);
    expect(trials(world)).toBe(0);
    await world.run(GOOD_AGENT);
    expect((await world.guardloop(["doctor"])).stdout).toMatch(
      /snapshot +(?:copy|reflink): no lay/,
    );
    expect(trials(world)).toBe(2);
  });

  test("a way that was asked for is taken without any trial", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT, ["--snapshot-method", "copy"]);
    expect(await methodOf(world)).toEqual({ method: "copy", why: "snapshot.method is copy" });
    expect(trials(world)).toBe(0);
  });

  test("layers that were asked for and do not work refuse the run, with what to do", async () => {
    using world = makeWorld();
    const ended = await world.run(GOOD_AGENT, ["--snapshot-method", "overlay"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain(
      "snapshot.method is overlay, which does not work here: Docker started no container over layers",
    );
    expect(ended.stderr).toContain("leave out --snapshot-method");
    expect(ended.stderr).toContain("[snapshot-method-unavailable]");
    expect(await runsOf(world)).toEqual([]);
  });

  test("a remembered trial that cannot be read is made again", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const directory = join(world.state, "snapshot-trials");
    expect(readdirSync(directory)).toHaveLength(1);
    for (const name of readdirSync(directory)) writeFileSync(join(directory, name), '{"is":"pro');
    await world.run(GOOD_AGENT);
    expect(trials(world)).toBe(2);
  });

  test("a repository's own file may say how, without being trusted", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", '[snapshot]\nmethod = "copy"\n');
    world.commit("A method");
    const ended = await world.run(GOOD_AGENT);
    expect(ended.stderr).not.toContain("guardloop trust");
    expect(await methodOf(world)).toEqual({ method: "copy", why: "snapshot.method is copy" });
  });

  test("what did not work a long time ago is tried again", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const directory = join(world.state, "snapshot-trials");
    const then = new Date(Date.now() - 8 * 24 * 60 * 60_000);
    for (const name of readdirSync(directory)) utimesSync(join(directory, name), then, then);
    await world.run(GOOD_AGENT);
    expect(trials(world)).toBe(2);
  });
});

// The layers are of another user than the one who mounts them.
describe.skipIf(!isRoot)("over layers", () => {
  test.each(["scripted", "scripted-podman"] as const)(
    "with %s a run works over them, and the trial is made once",
    async (kind) => {
      using world = makeWorld(kind);
      letMountOverlays(world);
      for (const task of ["T1", "T2"]) {
        const ended = await world.run(GOOD_AGENT);
        expect(ended.stderr + ended.stdout).toContain(`ready: agent/${task}-`);
        await succeed(world, ["promote", "@last"]);
      }
      expect(await methodOf(world)).toEqual({
        method: "overlay",
        why: `a trial showed that ${kind === "scripted" ? "Docker" : "Podman"} mounts layers here`,
      });
      expect(world.git("show", "HEAD:T2.txt")).toBe("work on T2");
      expect(readdirSync(join(world.state, "snapshot-trials"))).toHaveLength(1);
    },
  );

  test("what earlier did not work is tried anew when it is asked for by name", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    letMountOverlays(world);
    await world.run(GOOD_AGENT);
    expect((await methodOf(world)).method).toMatch(WITHOUT_LAYERS);
    await succeed(world, [
      "run",
      "--agent",
      "command",
      "--snapshot-method",
      "overlay",
      "--",
      "sh",
      "-c",
      GOOD_AGENT,
    ]);
    expect(await methodOf(world)).toMatchObject({ method: "overlay" });
  });

  test("in a state directory whose path an overlay cannot name, another way is taken", async () => {
    using world = makeWorld();
    letMountOverlays(world);
    const state = join(world.root, "state,2");
    await world.run(GOOD_AGENT, [], { env: { XDG_STATE_HOME: state } });
    const [run = ""] = readdirSync(join(state, "guardloop/runs"));
    const spec = readFileSync(join(state, "guardloop/runs", run, "spec.json"), "utf8");
    const { snapshot } = JSON.parse(spec) as { snapshot: { method: string; why: string } };
    expect(snapshot.method).toMatch(WITHOUT_LAYERS);
    expect(snapshot.why).toContain("has a character that an overlay mount cannot name");
  });
});
