import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { expectCleanAfterCrash, workOf } from "../rig/aftermath.ts";
import { runArgs } from "../rig/effects.ts";
import { type World, checkoutDigest, makeWorld } from "../rig/world.ts";

/** Gives the world's state directory a disk of its own, of so many KiB. Only root may. */
function smallDisk(world: World, sizeKib: number) {
  // The floor of free space would end every run before it began.
  world.env["GUARD_FREE_FLOOR"] = "0b";
  const at = dirname(world.state);
  mkdirSync(at);
  mount("-t", "tmpfs", "-o", `size=${sizeKib}k,mode=700`, "none", at);
  return {
    resize: (kib: number): void => mount("-o", `remount,size=${kib}k`, at),
    readOnly: (): void => mount("-o", "remount,ro", at),
    [Symbol.dispose]: (): void => void execFileSync("umount", ["--lazy", at], { stdio: "pipe" }),
  };
}

function mount(...args: readonly string[]): void {
  execFileSync("mount", args, { stdio: "pipe" });
}

const isRoot = process.getuid?.() === 0;

/** Enough for a whole run and for its leftovers. */
const ENOUGH_KIB = 20_000;

describe.skipIf(!isRoot)("the disk of the state directory is full", () => {
  // From nothing but the database to nearly enough: each is used up at another write.
  test.each([60, 100, 140, 180, 220, 260, 300, 340, 380, 420])(
    "after %d KiB: the run ends by name, and nothing is lost or left over",
    async (sizeKib) => {
      using world = makeWorld();
      using disk = smallDisk(world, sizeKib);
      const before = checkoutDigest(world);
      const ran = await world.guardloop(runArgs("builtin"));
      expect(ran.stderr).not.toContain("    at ");
      expect(`${ran.code} ${ran.stderr}`).toMatch(/^(0 [^]*ready: agent|[13] [^]*\[disk-full\])/);
      disk.resize(ENOUGH_KIB);
      const recovered = await world.guardloop(["recover"]);
      expect(recovered.stderr).not.toContain("    at ");
      expect(recovered.code).toBe(0);
      const [run] = await expectCleanAfterCrash(world, before);
      const hadExported = /agent +ok/.test(ran.stderr);
      expect(hadExported && workOf(world, run) === "none").toBe(false);
      expect((await world.guardloop(runArgs("builtin"))).code).toBe(0);
    },
  );
});

describe.skipIf(!isRoot)("a read-only state directory", () => {
  test("is refused by name, before anything is made", async () => {
    using world = makeWorld();
    using disk = smallDisk(world, ENOUGH_KIB);
    const before = checkoutDigest(world);
    expect((await world.guardloop(["runs"])).code).toBe(0);
    disk.readOnly();
    const ran = await world.guardloop(runArgs("builtin"));
    expect(ran.stderr).toContain(world.state);
    expect(ran.stderr).toContain("read-only");
    expect(ran.stderr).toContain("[state-unusable]");
    expect(ran.code).toBe(3);
    expect(checkoutDigest(world)).toBe(before);
  });
});
