import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { succeed } from "../rig/lifecycle.ts";
import { type World, makeWorld } from "../rig/world.ts";

const cacheOf = (world: World): string => join(world.state, "compile-cache");

/** A world in which the code of `runs` is kept, and the file that it is in. */
async function withKeptCode(): Promise<{ readonly world: World; readonly file: string }> {
  const world = makeWorld();
  await succeed(world, ["runs"]);
  await succeed(world, ["runs"]);
  const [name = ""] = readdirSync(cacheOf(world));
  return { world, file: join(cacheOf(world), name) };
}

describe("compiled code", () => {
  test("lies in a state directory that is there already, and makes none", async () => {
    using world = makeWorld();
    await succeed(world, ["--help"]);
    expect(existsSync(world.state)).toBe(false);
    await succeed(world, ["runs"]);
    await succeed(world, ["runs"]);
    expect(readdirSync(cacheOf(world))).toEqual([
      expect.stringMatching(/^runs-v[\d.]+-\w+-[0-9a-f]{8}\.bin$/),
    ]);
  });

  test("is kept once, for each command what it uses", async () => {
    const { world, file } = await withKeptCode();
    using _ = world;
    const before = statSync(file).ino;
    await succeed(world, ["runs"]);
    expect(statSync(file).ino).toBe(before);
    await succeed(world, ["--help"]);
    expect(readdirSync(cacheOf(world)).map((name) => name.split("-v")[0])).toEqual([
      "help",
      "runs",
    ]);
  });

  test("is never read from, or put, where somebody else may write", async () => {
    const { world } = await withKeptCode();
    using _ = world;
    rmSync(cacheOf(world), { recursive: true, force: true });
    chmodSync(world.state, 0o777);
    await succeed(world, ["--help"]);
    expect(existsSync(cacheOf(world))).toBe(false);
  });

  test("in a directory that others may write is neither read nor written", async () => {
    const { world, file } = await withKeptCode();
    using _ = world;
    chmodSync(cacheOf(world), 0o777);
    await succeed(world, ["--help"]);
    expect(readdirSync(cacheOf(world))).toHaveLength(1);
    expect(existsSync(file)).toBe(true);
  });

  test("in a file that others may write, or behind a link, is made anew", async () => {
    const { world, file } = await withKeptCode();
    using _ = world;
    chmodSync(file, 0o666);
    await succeed(world, ["runs"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const aside = join(world.root, "aside");
    writeFileSync(aside, readFileSync(file), { mode: 0o600 });
    rmSync(file);
    symlinkSync(aside, file);
    await succeed(world, ["runs"]);
    expect(readdirSync(cacheOf(world), { withFileTypes: true }).map((one) => one.isFile())).toEqual(
      [true],
    );
  });

  test("with a byte changed in it is not run, and made anew", async () => {
    const { world, file } = await withKeptCode();
    using _ = world;
    const whole = readFileSync(file);
    const damaged = Buffer.from(whole);
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 9) ^ 1, damaged.length - 9);
    writeFileSync(file, damaged);
    await succeed(world, ["runs"]);
    expect(readFileSync(file).equals(damaged)).toBe(false);
    writeFileSync(file, whole.subarray(0, 5));
    await succeed(world, ["runs"]);
    expect(statSync(file).size).toBeGreaterThan(1000);
  });

  test("of another version goes when there is code of this one", async () => {
    const { world, file } = await withKeptCode();
    using _ = world;
    rmSync(file);
    const old = join(cacheOf(world), "runs-v20.0.0-x64-00000000.bin");
    writeFileSync(old, "old");
    await succeed(world, ["runs"]);
    expect(existsSync(old)).toBe(false);
    expect(existsSync(file)).toBe(true);
  });
});
