import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RunSpec } from "../../src/core/run-spec.ts";
import { ok } from "../../src/core/result.ts";
import type { ContainerSpec, Engine } from "../../src/engine/port.ts";
import { removeLater } from "../../src/run/house/remove-later.ts";
import { openLayer } from "../../src/run/container/open-layer.ts";
import { runPaths } from "../../src/run/paths.ts";
import { readHostEnvironment } from "../../src/config/environment.ts";

const RUN = "261129-164712-k3f9q";

// What `commonPart` takes of a spec.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const SPEC = {
  runId: RUN,
  repository: { id: "shop-0123456789ab" },
  image: { name: "guardloop-agent", id: "sha256:0123" },
  engine: { kind: "docker" },
  container: { uid: 1000, gid: 1000, memoryBytes: 1, cpus: 1, pids: 1, tmpBytes: 1, homeBytes: 1 },
} as unknown as RunSpec;

/** A layer as the kernel leaves it, and an engine whose containers do what they are told on the host. */
function layer() {
  const root = mkdtempSync(join(tmpdir(), "guardloop-layer-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const upper = join(root, "upper");
  const work = join(root, "work");
  mkdirSync(join(upper, "src"), { recursive: true });
  writeFileSync(join(upper, "src", "file"), "the agent's\n");
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
      const [program = "", ...args] = spec.argv;
      const [mount] = spec.mounts;
      const onHost = args.map((arg) => (arg === mount?.target ? mount.source : arg));
      execFileSync(program, onHost);
      return ok({ exitCode: 0, outOfMemory: false });
    },
  } as Partial<Engine> as Engine;
  const env = readHostEnvironment({ XDG_STATE_HOME: root, HOME: root });
  const paths = runPaths(env.stateDir, RUN);
  const services = { env, engine, paths, remover: undefined };
  return { services, upper, work, calls, containers };
}

test("after an orderly end no container is needed", async () => {
  const { services, upper, work, calls } = layer();
  execFileSync("chmod", ["000", join(work, "work")]);
  await openLayer(services, SPEC, work);
  await removeLater(services, [upper, work]);
  expect([existsSync(upper), existsSync(work)]).toEqual([false, false]);
  expect(calls).toEqual([]);
  await openLayer(services, SPEC, work);
  await removeLater(services, [upper, work]);
});

test("what an end in the middle of a write left is opened from inside, by root without a capability", async () => {
  const { services, upper, work, calls, containers } = layer();
  writeFileSync(join(work, "work", "#5a"), "half a copy\n");
  execFileSync("chmod", ["000", join(work, "work")]);
  await openLayer(services, SPEC, work);
  await removeLater(services, [upper, work]);
  expect([existsSync(upper), existsSync(work)]).toEqual([false, false]);
  const name = `guardloop-${RUN}-clear`;
  expect(calls).toEqual([`remove ${name}`, `run ${name}`]);
  expect(containers).toEqual([
    expect.objectContaining({
      user: { uid: 0, gid: 0 },
      network: "none",
      passEnv: [],
      labels: expect.objectContaining({
        "guardloop.run": RUN,
        "guardloop.state": services.paths.stateId,
      }),
      mounts: [{ role: "workspace", source: work, target: "/workspace", access: "rw" }],
      argv: ["chmod", "-R", "a+rwX", "/workspace"],
    }),
  ]);
});
