import { chmodSync, existsSync, rmSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { succeed } from "../rig/lifecycle.ts";
import { type World, makeWorld } from "../rig/world.ts";

const cacheOf = (world: World): string => join(world.state, "compile-cache");

describe.skipIf(!("enableCompileCache" in nodeModule))(
  "compiled code, where Node can keep it",
  () => {
    test("lies in a state directory that is there already, and makes none", async () => {
      using world = makeWorld();
      await succeed(world, ["--help"]);
      expect(existsSync(world.state)).toBe(false);
      await succeed(world, ["runs"]);
      await succeed(world, ["runs"]);
      expect(existsSync(cacheOf(world))).toBe(true);
    });

    test("is never read from where somebody else may write", async () => {
      using world = makeWorld();
      await succeed(world, ["runs"]);
      rmSync(cacheOf(world), { recursive: true, force: true });
      chmodSync(world.state, 0o777);
      await succeed(world, ["--help"]);
      expect(existsSync(cacheOf(world))).toBe(false);
    });
  },
);
