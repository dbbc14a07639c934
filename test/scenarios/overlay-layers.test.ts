import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, show } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, leftovers, letMountOverlays, makeWorld } from "../rig/world.ts";

const TOKEN = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");

function project(): World {
  const world = makeWorld();
  letMountOverlays(world);
  world.write(".gitignore", "node_modules/\n.env*\n");
  world.commit("Ignore");
  return world;
}

/** A run that says what it sees below node_modules, and then changes all of it. */
async function seenBy(world: World, flags: readonly string[] = []) {
  const script = `(cat node_modules/*/*; cat .env.test 2>/dev/null || true) > "$TMPDIR/seen.$$"
rm -r node_modules/a; echo changed > node_modules/b/index.js
${GOOD_AGENT}
cp "$TMPDIR/seen.$$" seen.txt`;
  const ended = await world.run(script, ["--overlay", "node_modules/**", ...flags]);
  expect(ending(ended)).toBe("exit 0");
  const { run } = await show(world);
  const text = readFileSync(join(world.state, "runs", run.id, "snapshot-manifest.json"), "utf8");
  const manifest = JSON.parse(text) as {
    readonly copied: readonly { readonly path: string; readonly rule: string }[];
    readonly keptOut: readonly { readonly path: string; readonly rule: string }[];
  };
  return { seen: world.git("show", `${run.branch}:seen.txt`).split("\n"), manifest };
}

/** All files of the layers that are kept. */
function layerFiles(world: World): readonly string[] {
  const layers = join(world.state, "layers");
  const [id = ""] = readdirSync(layers);
  const kept = join(layers, id, "let-in");
  return readdirSync(kept).flatMap((slot) =>
    readdirSync(join(kept, slot, "files"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(join(kept, slot, "files/").length)),
  );
}

// The layers are of another user than the one who mounts them.
describe.skipIf(process.getuid?.() !== 0)("over layers, the overlay's files", () => {
  test("are kept as one more layer that follows the checkout, and that no agent changes", async () => {
    using world = project();
    for (const name of ["a", "b", "c"]) world.write(`node_modules/${name}/index.js`, `${name}1\n`);
    const first = await seenBy(world, ["--validate", "there: test -f node_modules/a/index.js"]);
    expect(first.seen).toEqual(["a1", "b1", "c1"]);
    expect(layerFiles(world)).toHaveLength(3);
    world.write("node_modules/b/index.js", "b2\n");
    world.write("node_modules/d/index.js", "d1\n");
    world.write("node_modules/e/index.js", `${TOKEN}\n`);
    rmSync(join(world.repo, "node_modules/c"), { recursive: true });
    const second = await seenBy(world);
    expect(second.seen).toEqual(["a1", "b2", "d1"]);
    expect(second.manifest.copied.map(({ path, rule }) => [path, rule])).toEqual(
      ["a", "b", "d"].map((name) => [`node_modules/${name}/index.js`, "node_modules/**"]),
    );
    expect(second.manifest.keptOut).toContainEqual(
      expect.objectContaining({
        path: "node_modules/e/index.js",
        rule: expect.stringMatching(/^holds what looks like/),
      }),
    );
    expect(layerFiles(world).toSorted()).toEqual(
      ["a", "b", "d"].map((name) => `node_modules/${name}/index.js`),
    );
    world.write("node_modules/d/index.js", `${TOKEN}\n`);
    expect((await seenBy(world)).seen).toEqual(["a1", "b2"]);
    expect(layerFiles(world)).toHaveLength(2);
    expect(leftovers(world)).toEqual([]);
  });

  test("that were named one by one may be secrets, and none of them is kept", async () => {
    using world = project();
    for (const name of ["a", "b"]) world.write(`node_modules/${name}/index.js`, `${name}1\n`);
    world.write(".env.test", "SECRET=of-mine\n");
    const { seen, manifest } = await seenBy(world, ["--overlay", ".env.test"]);
    expect(seen).toEqual(["a1", "b1", "SECRET=of-mine"]);
    expect(manifest.copied.map(({ path }) => path)).toContain(".env.test");
    expect(layerFiles(world).toSorted()).toEqual([
      "node_modules/a/index.js",
      "node_modules/b/index.js",
    ]);
  });
});
