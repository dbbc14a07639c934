import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { IN_A_HURRY } from "../rig/clock.ts";
import { leaseWorld, quiet, runArgs } from "../rig/effects.ts";
import { ending, succeed } from "../rig/lifecycle.ts";
import { type World, agentRuns, checkoutDigest, leftovers, runsOf } from "../rig/world.ts";

function setTreehouse(world: World, faults: Readonly<Record<string, unknown>>): void {
  writeFileSync(join(world.bin, "treehouse.faults.json"), JSON.stringify(faults));
}

describe.concurrent("a treehouse that waits for its lock for ever", () => {
  test.each([
    ["before it leases", { hang: ["get"] }],
    ["after it has leased", { hangAfterLease: true }],
  ])("%s: the lease is given up by name, and nothing is left", async (_when, faults) => {
    using world = leaseWorld("treehouse");
    const before = checkoutDigest(world);
    setTreehouse(world, faults);
    const ended = await world.guardloop(runArgs("treehouse"), { env: IN_A_HURRY });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("treehouse get did not end in time and was stopped.");
    const [run] = await runsOf(world);
    expect(run?.failure).toMatchObject({ stage: "lease", code: "lease-failed" });
    await quiet(world);
    expect(agentRuns(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
    setTreehouse(world, {});
    expect(ending(await world.guardloop(runArgs("treehouse")))).toBe("exit 0");
  });

  test("also for `status`: what it leased is said to be unknown, and recovery returns it", async () => {
    using world = leaseWorld("treehouse");
    setTreehouse(world, { hangAfterLease: true, hang: ["status"] });
    const ended = await world.guardloop(runArgs("treehouse"), { env: IN_A_HURRY });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("treehouse get did not end in time");
    const [run] = await runsOf(world);
    expect(run?.failure?.code).toBe("lease-failed");
    await quiet(world);
    setTreehouse(world, {});
    const recovered = await succeed(world, ["recover"]);
    expect(recovered.stdout).toContain("Returned the lease of");
    expect(leftovers(world)).toEqual([]);
  });

  test("on the return: the work is ready all the same, and recovery returns the lease", async () => {
    using world = leaseWorld("treehouse");
    setTreehouse(world, { hang: ["return"] });
    const ended = await world.guardloop(runArgs("treehouse"), { env: IN_A_HURRY });
    expect(ended.stderr).toContain("ready: agent/T1-");
    expect(ended.stderr).toContain("did not end in time");
    await quiet(world);
    setTreehouse(world, {});
    await succeed(world, ["recover"]);
    expect(leftovers(world)).toEqual([]);
  });
});
