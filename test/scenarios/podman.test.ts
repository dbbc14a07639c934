import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stateId } from "../../src/run/paths.ts";
import { fullCircle, show, succeed } from "../rig/lifecycle.ts";
import {
  GOOD_AGENT,
  type World,
  agentRuns,
  checkoutDigest,
  installEngine,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

/** A run that must be refused before anything was made, with what was said. */
async function refused(world: World, flags: readonly string[] = []): Promise<string> {
  const before = checkoutDigest(world);
  const ended = await world.run(GOOD_AGENT, flags);
  expect(ended.code).toBe(3);
  expect(await runsOf(world)).toEqual([]);
  expect(checkoutDigest(world)).toBe(before);
  expect(leftovers(world)).toEqual([]);
  return ended.stderr;
}

/** A world in which both engines are scripted; Docker's faults are those of `docker`. */
function worldWithBoth(docker: Readonly<Record<string, unknown>>): World {
  const world = makeWorld("scripted-podman");
  installEngine(world.bin, "docker");
  writeFileSync(join(world.bin, "docker.faults.json"), JSON.stringify(docker));
  delete world.env["GUARD_ENGINE"];
  return world;
}

describe("which engine", () => {
  test("Podman, when it is asked for: the whole way, said and recorded", async () => {
    using world = makeWorld("scripted-podman");
    await fullCircle(world);
    expect(await show(world)).toMatchObject({
      engine: { kind: "podman", version: "4.3.1", runtime: "crun", rights: "rootful" },
    });
    expect(leftovers(world)).toEqual([]);
  });

  test("Docker, when both answer", async () => {
    using world = worldWithBoth({});
    const ended = await world.run(GOOD_AGENT);
    expect(ended.stderr).toContain("Engine: docker 20.10.24 (rootful, runtime runc).");
    expect(await show(world)).toMatchObject({ engine: { kind: "docker", runtime: "runc" } });
  });

  test("Podman, when Docker does not answer; why is said", async () => {
    using world = worldWithBoth({ daemonGone: true });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("Podman runs the containers, because: Docker does not answer");
    expect(await show(world)).toMatchObject({ engine: { kind: "podman" } });
    const doctor = await world.guardloop(["doctor"]);
    expect(doctor.stdout).toContain("podman 4.3.1 (rootful, runtime crun)");
    expect(doctor.stdout).toContain("because: Docker does not answer");
  });

  test("none, when neither answers: both reasons are told", async () => {
    using world = worldWithBoth({ daemonGone: true });
    world.faults({ daemonGone: true });
    const said = await refused(world);
    expect(said).toContain("Docker does not answer");
    expect(said).toContain("Podman does not answer: Error: creating runtime static files");
    expect(said).toContain("[engine-unavailable]");
  });

  test("the one that was asked for and no other", async () => {
    using world = worldWithBoth({ daemonGone: true });
    expect(await refused(world, ["--engine", "docker"])).toContain("Docker does not answer");
  });

  test("a `docker` that is Podman under another name is not taken for Docker", async () => {
    using world = makeWorld("scripted-podman");
    writeFileSync(join(world.bin, "docker"), `#!/bin/sh\nexec '${world.bin}/podman' "$@"\n`, {
      mode: 0o755,
    });
    expect(await refused(world, ["--engine", "docker"])).toContain(
      "is Podman under the name of Docker",
    );
    expect((await world.run(GOOD_AGENT, ["--engine", "auto"])).code).toBe(0);
    expect(await show(world)).toMatchObject({ engine: { kind: "podman" } });
  });

  test("what a run did in one engine is validated in the same, whatever is the default now", async () => {
    using world = worldWithBoth({});
    const flags = ["--engine", "podman", "--validate", "test: test -f T1.txt"];
    expect((await world.run(GOOD_AGENT, flags)).code).toBe(0);
    const again = await world.guardloop(["validate", "@last"], {
      env: { GUARD_VALIDATE: "test: test -f T1.txt" },
    });
    expect(again.code).toBe(0);
    const validations = world
      .dockerCalls()
      .filter(({ argv }) => argv.some((one) => /^--name=.*-validate$/.test(one)));
    expect(validations).toHaveLength(2);
  });
});

describe("which runtime", () => {
  test("is in the argv and in the record when it was chosen", async () => {
    using world = makeWorld();
    expect((await world.run(GOOD_AGENT, ["--runtime", "runsc"])).code).toBe(0);
    expect(agentRuns(world)[0]).toContain("--runtime=runsc");
    expect(await show(world)).toMatchObject({ engine: { kind: "docker", runtime: "runsc" } });
  });

  test("is the engine's own when none was", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    expect(agentRuns(world)[0]?.join(" ")).not.toContain("--runtime");
  });

  test("one that Docker does not have is refused with those that it has", async () => {
    using world = worldWithBoth({});
    const said = await refused(world, ["--runtime", "runcs"]);
    expect(said).toContain("Docker has no runtime runcs.");
    expect(said).toContain("runc, runsc");
  });

  test("a path is refused: it would be a program of the host", async () => {
    using world = makeWorld();
    const ended = await world.run(GOOD_AGENT, ["--runtime", "/tmp/evil"]);
    expect(ended.code).toBe(2);
    expect(world.dockerCalls()).toEqual([]);
  });

  test("runc is taken where crun cannot start a container, and it is said", async () => {
    using world = makeWorld("scripted-podman");
    writeFileSync(join(world.bin, "runc"), "#!/bin/sh\n", { mode: 0o755 });
    world.faults({ crunFails: true });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.stderr).toContain(
      "crun cannot start containers here, so Podman is told to use runc",
    );
    expect(ended.code).toBe(0);
    expect(agentRuns(world)[0]).toContain("--runtime=runc");
    expect(await show(world)).toMatchObject({ engine: { runtime: "runc" } });
  });

  test("a runtime that was chosen is not replaced", async () => {
    using world = makeWorld("scripted-podman");
    writeFileSync(join(world.bin, "runc"), "#!/bin/sh\n", { mode: 0o755 });
    world.faults({ crunFails: true });
    expect(await refused(world, ["--runtime", "crun"])).toContain("container posture cannot be");
  });
});

describe("a Podman that cannot keep the posture is refused by name", () => {
  test.each([
    [
      "rootless, without control over limits",
      { rootless: true, controllers: [], cgroupVersion: "v1" },
      "Rootless Podman cannot limit memory, pids, cpu on this host (control groups v1)",
    ],
    [
      "rootless, with half of it",
      { rootless: true, controllers: ["memory", "pids"] },
      "Rootless Podman cannot limit cpu on this host",
    ],
    ["on another machine", { remote: true }, "Podman on another machine"],
    ["without seccomp", { noSeccomp: true }, "no seccomp filter"],
    ["with SELinux", { selinux: true }, "with SELinux is not supported yet"],
    ["too old", { version: "4.2.0" }, "Podman 4.2.0 is too old"],
    [
      "with limits that are said to be kept, and are not",
      { limits: { memory: "max" } },
      "Podman with the runtime crun does not keep a container's limits here (memory)",
    ],
  ])("%s", async (_, faults, sentence) => {
    using world = makeWorld("scripted-podman");
    world.faults(faults);
    const said = await refused(world);
    expect(said).toContain(sentence);
    expect(said).toContain("[engine-unsupported]");
  });
});

test("rootless Podman with control over limits keeps the user's ids in the container", async () => {
  using world = makeWorld("scripted-podman");
  world.faults({ rootless: true });
  expect((await world.run(GOOD_AGENT)).code).toBe(0);
  expect(agentRuns(world)[0]).toContain("--userns=keep-id");
  expect(await show(world)).toMatchObject({ engine: { rights: "rootless" } });
});

describe("faults", () => {
  test("the memory limit is named when Podman tells of it", async () => {
    using world = makeWorld("scripted-podman");
    world.faults({ outOfMemory: true });
    const ended = await world.run(`echo half > half.txt\nkill -9 $PPID`);
    expect(ended.stderr).toContain("memory limit of 4096 MiB");
    expect((await runsOf(world))[0]?.failure?.code).toBe("agent-out-of-memory");
  });

  test("a container that Podman refuses fails the run in Podman's words", async () => {
    using world = makeWorld("scripted-podman");
    world.faults({ afterScript: `echo '{"daemonGone":true}' > "$FAULTS"` });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("Podman could not look for the container");
    expect(ended.stderr).not.toContain("Docker");
  });

  test("an image that only another engine has is missing, and the cure names the engine", async () => {
    using world = worldWithBoth({});
    world.faults({ imageMissing: true });
    const said = await refused(world, ["--engine", "podman"]);
    expect(said).toContain("The image guardloop-agent is not in Podman");
    expect(said).toContain("guardloop image build --engine podman");
  });

  test("`recover` finds what is left in every engine that answers", async () => {
    using world = worldWithBoth({});
    for (const engine of ["containers", "podman-containers"]) {
      mkdirSync(join(world.bin, engine));
      const left = JSON.stringify({
        pid: 2 ** 22,
        run: "261129-164712-k3f9q",
        state: stateId(world.state),
      });
      writeFileSync(join(world.bin, engine, `guardloop-of-${engine}-agent`), left);
    }
    const recovered = await succeed(world, ["recover"]);
    expect(recovered.stdout.match(/Removed the container/g)).toHaveLength(2);
    expect(leftovers(world).filter((one) => one.startsWith("container"))).toEqual([]);
  });
});
