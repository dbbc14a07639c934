import { cpSync, existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AT_ONCE, gc } from "../rig/house.ts";
import { readyRun, succeed } from "../rig/lifecycle.ts";
import { makeWorld } from "../rig/world.ts";

const stores = (state: string): readonly string[] => {
  const layers = join(state, "layers");
  return existsSync(layers)
    ? readdirSync(layers).flatMap((id) => readdirSync(join(layers, id, "stores")))
    : [];
};

test("`gc` takes away what snapshots lay on when no run has used it for long, and the next run makes it anew", async () => {
  using world = makeWorld();
  await readyRun(world);
  expect(stores(world.state)).toEqual(["1"]);
  const young = await gc(world);
  expect(young.items.filter(({ kind }) => kind.startsWith("base "))).toEqual([]);
  const said = (await succeed(world, ["gc", ...AT_ONCE])).stdout;
  expect(said).toMatch(
    /Would remove base store .*\/stores\/1 {2}[\d.]+ KiB: no run has used it for as long as retention.pool_days says/,
  );
  expect(stores(world.state)).toEqual(["1"]);
  await gc(world, "--yes", ...AT_ONCE);
  expect(stores(world.state)).toEqual([]);
  await readyRun(world);
  expect(stores(world.state)).toEqual(["1"]);
});

test("those of a repository that is gone go as well", async () => {
  using world = makeWorld();
  const other = join(world.root, "other");
  cpSync(world.repo, other, { recursive: true });
  await world.run("true", [], { cwd: other });
  const kinds = async () => (await gc(world, ...AT_ONCE)).items.map(({ kind }) => kind);
  expect(await kinds()).not.toContain("base store");
  renameSync(other, join(world.root, "moved"));
  expect(await kinds()).toContain("base store");
});
