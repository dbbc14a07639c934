import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownsProcessNamespace } from "../../src/guest/end-others.ts";
import { importAsHost } from "./host-import.ts";
import { GUEST_EXPORTS } from "../../src/core/artifacts.ts";
import { makeStage, runGuest } from "./rig.ts";

const BUNDLE = "/guardloop/job/guest.cjs";
const INIT = `/sbin/docker-init\0--\0node\0${BUNDLE}\0/guardloop/job/job.json\0`;
const NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"];
const canUnshare = spawnSync(NAMESPACE[0] ?? "", [...NAMESPACE.slice(1), "true"]).status === 0;

test("the namespace is ours only when the host says so and process 1 runs the bundle", () => {
  expect(ownsProcessNamespace("container", INIT, BUNDLE)).toBe(true);
  expect(ownsProcessNamespace("none", INIT, BUNDLE)).toBe(false);
  expect(ownsProcessNamespace("container", "/sbin/init\0", BUNDLE)).toBe(false);
  expect(ownsProcessNamespace("container", "", "")).toBe(false);
  expect(ownsProcessNamespace("container", `sh\0-c\0node ${BUNDLE}\0`, BUNDLE)).toBe(false);
  expect(ownsProcessNamespace("container", "node\0guest.cjs\0", "guest.cjs")).toBe(false);
});

test("on a machine that is not the run's own, no other process is ended", async () => {
  const bystander = spawn("sleep", ["1000"], { stdio: "ignore" });
  const ended = once(bystander, "exit");
  const stage = makeStage();
  const run = await runGuest(stage, { agent: "echo x > x", job: { isolation: "container" } });
  expect(run.code).toBe(0);
  expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
  bystander.kill("SIGKILL");
  await ended;
});

test.skipIf(!canUnshare)(
  "in its own namespace, what the agent left running is ended before the export",
  async () => {
    const stage = makeStage();
    const run = await runGuest(stage, {
      launcher: NAMESPACE,
      job: { isolation: "container" },
      // The daemon leaves the agent's group and session, and takes note when it is alive to see an export.
      agent: `echo x > x
        setsid sh -c "trap '' TERM HUP INT; echo up > ../up; while [ ! -d '${stage.artifacts}/patches' ]; do :; done; echo seen > ../seen" &
        while [ ! -s ../up ]; do :; done`,
    });
    expect([run.code, run.output]).toEqual([0, `${GUEST_EXPORTS}\n`]);
    expect(importAsHost(stage, run).manifest.patches).toHaveLength(1);
    expect(existsSync(join(stage.directory, "seen"))).toBe(false);
  },
);
