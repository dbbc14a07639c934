import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { type Gc } from "../rig/house.ts";
import { ending } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

function docker(...args: readonly string[]): string {
  return execFileSync("docker", args, { encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] }).trim();
}

/** An image without anything in it, with the label of our builds. */
function importImage(...name: readonly string[]): string {
  const label = `LABEL guardloop.image.inputs=gc-test-${process.pid}-${name.length}`;
  const args = ["import", "--change", label, "-", ...name];
  // An empty archive is two blocks of zeros, and more of them mean no more.
  return execFileSync("docker", args, { input: Buffer.alloc(10_240), encoding: "utf8" }).trim();
}

const hasDocker =
  process.getuid?.() === 0 &&
  spawnSync("docker", ["image", "inspect", "guardloop-agent"]).status === 0;

test.skipIf(!hasDocker)(
  "on a real Docker, an orphan container and a nameless image go, what is named or foreign stays",
  async () => {
    using world = makeWorld("docker");
    expect(ending(await world.run(GOOD_AGENT))).toBe("exit 0");
    const [run] = await runsOf(world);
    const state = createHash("sha256").update(world.state).digest("hex").slice(0, 12);
    const tag = `guardloop-gc-test-${process.pid}`;
    const start = (name: string, ...labels: readonly string[]): string => {
      const flags = ["--detach", "--network=none", `--name=${tag}-${name}`];
      return docker("run", ...flags, ...labels, "guardloop-agent", "sleep", "600");
    };
    const ofRun = `--label=guardloop.run=${run?.id}`;
    const named = importImage(`${tag}:kept`);
    const nameless = importImage();
    const made = [
      start("orphan", ofRun, `--label=guardloop.state=${state}`),
      start("other-state", ofRun, "--label=guardloop.state=ffffffffffff"),
      start("foreign"),
    ];
    try {
      const ended = await world.guardloop(["gc", "--yes", "--json"]);
      const { items } = JSON.parse(ended.stdout) as Gc;
      const removed = items.map(({ what }) => what);
      expect(removed).toContain(`${tag}-orphan`);
      expect(removed).toContain(nameless);
      expect(removed).not.toContain(named);
      const names = docker("ps", "--all", "--format={{.Names}}", `--filter=name=${tag}`);
      expect(names.split("\n").toSorted()).toEqual([`${tag}-foreign`, `${tag}-other-state`]);
      expect(docker("images", "--all", "--quiet", "--no-trunc").split("\n")).not.toContain(
        nameless,
      );
      expect(docker("image", "inspect", "--format={{.Id}}", `${tag}:kept`)).toBe(named);
    } finally {
      spawnSync("docker", ["rm", "--force", ...made]);
      spawnSync("docker", ["image", "rm", "--force", `${tag}:kept`, nameless]);
    }
  },
);
