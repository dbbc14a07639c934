import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RunSpec } from "../../src/core/run-spec.ts";
import { ok } from "../../src/core/result.ts";
import type { ContainerSpec, Engine } from "../../src/engine/port.ts";
import { openerOf, removeOverlayWork } from "../../src/run/container/overlay-work.ts";
import { runPaths } from "../../src/run/paths.ts";

const RUN = "261129-164712-k3f9q";
const isRoot = process.getuid?.() === 0;

// What `commonPart` takes of a spec.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const SPEC = {
  runId: RUN,
  repository: { id: "shop-0123456789ab" },
  image: { name: "guardloop-agent", id: "sha256:0123" },
  engine: { kind: "docker" },
  container: { uid: 1000, gid: 1000, memoryBytes: 1, cpus: 1, pids: 1, tmpBytes: 1, homeBytes: 1 },
} as unknown as RunSpec;

/** What the kernel leaves, and an engine whose containers do what they are told on the host, by root. */
function leftBehind() {
  const root = mkdtempSync(join(tmpdir(), "guardloop-layer-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const work = join(root, "work");
  mkdirSync(join(work, "work"), { recursive: true, mode: 0o755 });
  const calls: string[] = [];
  const containers: ContainerSpec[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const engine = {
    remove: async (name) => {
      calls.push(`remove ${name}`);
      return ok(undefined);
    },
    run: async (spec) => {
      calls.push(`run ${spec.name}`);
      containers.push(spec);
      if (isRoot) execFileSync("chattr", ["-i", join(work, "work")]);
      const [program = "", ...args] = spec.argv;
      const [mount] = spec.mounts;
      execFileSync(
        program,
        args.map((arg) => (arg === mount?.target ? mount.source : arg)),
      );
      return ok({ exitCode: 0, outOfMemory: false });
    },
  } as Partial<Engine> as Engine;
  const paths = runPaths(join(root, "state"), RUN);
  const remove = () => removeOverlayWork(engine, work, () => openerOf(SPEC, paths));
  return { remove, work, calls, containers, stateId: paths.stateId };
}

test("after an orderly end no container is needed", async () => {
  const { remove, work, calls } = leftBehind();
  execFileSync("chmod", ["000", join(work, "work")]);
  expect(await remove()).toBe("removed");
  expect(existsSync(work)).toBe(false);
  expect(await remove()).toBe("removed");
  expect(calls).toEqual([]);
});

test("what may not be looked at is opened from inside, by root without a capability", async () => {
  const { remove, work, calls, containers, stateId } = leftBehind();
  writeFileSync(join(work, "work", "#5a"), "half a copy\n");
  execFileSync("chmod", ["000", join(work, "work")]);
  // To root nothing is closed but this.
  if (isRoot) execFileSync("chattr", ["+i", join(work, "work")]);
  expect(await remove()).toBe("removed");
  expect(existsSync(work)).toBe(false);
  const name = `guardloop-${RUN}-clear`;
  expect(calls).toEqual([`remove ${name}`, `run ${name}`]);
  expect(containers).toEqual([
    expect.objectContaining({
      user: { uid: 0, gid: 0 },
      network: "none",
      passEnv: [],
      labels: expect.objectContaining({ "guardloop.run": RUN, "guardloop.state": stateId }),
      mounts: [{ role: "workspace", source: work, target: "/workspace", access: "rw" }],
      argv: ["chmod", "-R", "a+rwX", "/workspace"],
    }),
  ]);
});
