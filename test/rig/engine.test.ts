import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type World, makeWorld } from "./world.ts";

const LIST = ["ps", "-a", "--filter=label=guardloop.run", '--format={{.Names}}\t{{.Label "x"}}'];
const CALLS: readonly (readonly string[])[] = [
  ["info", "--format", "{{json .}}"],
  ["image", "inspect", "--format", "{{json .}}", "guardloop-agent"],
  ["images", "--quiet", "--filter=dangling=true"],
  LIST,
  ["ps", "-a", "--filter", "name=^/none$", "--format", "{{.Names}}"],
  ["rm", "--force", "--volumes", "none"],
  ["kill", "--signal=TERM", "none"],
  ["events", "--since=1", "--until=2", "--filter=event=oom"],
  ["rm", "--force", "--volumes", "of two\nlines"],
];

function answer(world: World, program: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(join(world.bin, program), args, {
    env: { ...world.env, DOCKER_HOST: "unix:///there" },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test.each([
  ["docker", "scripted"],
  ["podman", "scripted-podman"],
] as const)("the quick answers of the scripted %s are those of the whole one", (name, kind) => {
  using world = makeWorld(kind);
  for (const args of CALLS) {
    const quick = answer(world, name, args);
    expect({ args, ...quick }).toEqual({ args, ...answer(world, `${name}.js`, args) });
    const [first, second] = world.dockerCalls().slice(-2);
    expect(first).toEqual({ argv: args, env: second?.env });
    expect(second?.argv).toEqual(args);
  }
});

test("what is not always the same, the whole one answers", () => {
  using world = makeWorld();
  mkdirSync(join(world.bin, "containers"));
  writeFileSync(join(world.bin, "containers/it"), JSON.stringify({ pid: 0, run: "r", state: "s" }));
  expect(answer(world, "docker", LIST).stdout).toBe("it\tr\n");
  world.faults({ cpus: 3 });
  expect(answer(world, "docker", ["info"]).stdout).toContain('"NCPU":3');
});
