import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunSpec } from "../../src/core/run-spec.ts";
import { isSlotUsed } from "../../src/run/layers/slots.ts";
import { harvest } from "../../src/run/setup/harvest.ts";
import { placeResult } from "../../src/run/setup/place-result.ts";
import { findResult } from "../../src/run/setup/setup-result.ts";

const USER = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const TRACKED = ["package.json", "src/app.ts"].map((path) => ({ path, mode: "100644", id: "1" }));
const SETUP = {
  commands: ["install"],
  allowHosts: [],
  lockfiles: ["package.json"],
  keep: [],
  caches: [],
  limitMs: 1000,
  key: "k",
};

/** A work tree as commands could have left it, and the place of its result. */
function workTree() {
  const root = mkdtempSync(join(tmpdir(), "guardloop-setup-"));
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  const write = (path: string, text = path): void => {
    mkdirSync(join(workspace, path, ".."), { recursive: true });
    writeFileSync(join(workspace, path), text);
  };
  for (const { path } of TRACKED) write(path, "changed by a command");
  return {
    root,
    workspace,
    write,
    link: (target: string, path: string) => symlinkSync(target, join(workspace, path)),
    results: join(root, "results"),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function take(
  at: ReturnType<typeof workTree>,
  more: { readonly keep?: readonly string[]; readonly limits?: object } = {},
) {
  const setup = { ...SETUP, keep: more.keep ?? [] };
  const limits = { diskBytes: 1_000_000, files: 1000, ...more.limits };
  const image = { name: "image", id: "sha256:1" };
  // Only what a harvest looks at.
  const spec = {
    runId: "r",
    principalHead: "h",
    limits,
    image,
    container: USER,
  } as unknown as RunSpec;
  const { signal } = new AbortController();
  const { workspace } = at;
  return harvest(
    { spec, setup, workspace, tracked: TRACKED, now: new Date(0), signal },
    join(at.results, SETUP.key),
  );
}

/** Every path below, without following a link. */
function pathsIn(directory: string, above = ""): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = above === "" ? entry.name : `${above}/${entry.name}`;
    return [path, ...(entry.isDirectory() ? pathsIn(join(directory, entry.name), path) : [])];
  });
}

describe("a result of setup", () => {
  test("is what Git does not track, without devices, repositories and links that lead out", async () => {
    using tree = workTree();
    tree.write("node_modules/dep/index.js");
    tree.write("node_modules/git/.git/config");
    tree.write("node_modules/git/kept");
    tree.write("src/made here.txt");
    mkdirSync(join(tree.workspace, "node_modules/empty"));
    tree.link("dep", "node_modules/alias");
    tree.link("/etc/passwd", "node_modules/absolute");
    tree.link("../../etc", "node_modules/up");
    // Neither leads out alone, by its text.
    tree.link("../..", "node_modules/dep/top");
    tree.link("dep/top/..", "node_modules/chained");
    execFileSync("mkfifo", [join(tree.workspace, "node_modules/pipe")]);
    chmodSync(join(tree.workspace, "node_modules/dep/index.js"), 0o6755);
    writeFileSync(Buffer.from(`${tree.workspace}/node_modules/\xff`, "latin1"), "");
    const done = await take(tree);
    if (!done.ok) throw new Error(done.error.message);
    const kept = join(tree.results, "k/tree");
    expect(pathsIn(kept).toSorted()).toEqual([
      "node_modules",
      "node_modules/alias",
      "node_modules/dep",
      "node_modules/dep/index.js",
      "node_modules/dep/top",
      "node_modules/empty",
      "node_modules/git",
      "node_modules/git/kept",
      "src",
      "src/made here.txt",
    ]);
    expect(readlinkSync(join(kept, "node_modules/alias"))).toBe("dep");
    expect(lstatSync(join(kept, "node_modules/dep/index.js")).mode & 0o7777).toBe(0o755);
    expect(done.value).toMatchObject({
      files: 3,
      links: 2,
      tops: ["node_modules/", "src/made here.txt"],
      lockfiles: [{ path: "package.json", blob: "1" }],
    });
    expect(done.value.leftOut.some.map(({ path }) => path).toSorted()).toEqual([
      "node_modules/absolute",
      "node_modules/chained",
      "node_modules/git/.git",
      "node_modules/pipe",
      "node_modules/up",
      "node_modules/\ufffd",
    ]);
    const place = { root: tree.root, results: tree.results, caches: "" };
    expect(await findResult(place, SETUP)).toMatchObject({ manifest: done.value });
  });

  test("is only what setup.keep names, where it names something", async () => {
    using tree = workTree();
    for (const path of ["node_modules/a/b", "x/node_modules/c", "build/d", "x/y.gen", "x/z"])
      tree.write(path);
    const done = await take(tree, { keep: ["**/node_modules", "x/*.gen"] });
    expect(done).toMatchObject({
      ok: true,
      value: { files: 3, tops: ["node_modules/", "x/node_modules/", "x/y.gen"] },
    });
  });

  test.each([
    ["more files than a snapshot may gain", { files: 3 }],
    ["more bytes", { diskBytes: 2000 }],
  ])("that has %s is refused", async (_what, limits) => {
    using tree = workTree();
    for (const name of ["a", "b", "c"]) tree.write(`node_modules/${name}`, "x".repeat(1000));
    expect(await take(tree, { limits })).toMatchObject({
      ok: false,
      error: { code: "setup-failed" },
    });
  });

  test("with one file that says it is larger than any disk is refused before it is copied", async () => {
    using tree = workTree();
    tree.write("node_modules/sparse");
    truncateSync(join(tree.workspace, "node_modules/sparse"), 2 ** 40);
    expect(await take(tree)).toMatchObject({ ok: false, error: { code: "setup-failed" } });
    expect(pathsIn(tree.results)).not.toContain("k/tree/node_modules/sparse");
  });

  test("is copied into a work tree, never over what is there, and through no link", async () => {
    using tree = workTree();
    for (const path of ["node_modules/a", "made.txt", "linked/in/x", "tools/own"]) tree.write(path);
    tree.link("a", "node_modules/alias");
    expect((await take(tree)).ok).toBe(true);
    const place = { root: tree.root, results: tree.results, caches: "" };
    const result = await findResult(place, SETUP);
    if (result === undefined) throw new Error("no result");
    const target = join(tree.root, "target");
    const outside = join(tree.root, "outside");
    for (const directory of [target, outside]) mkdirSync(directory);
    writeFileSync(join(target, "made.txt"), "the base's own");
    symlinkSync(outside, join(target, "linked"));
    writeFileSync(join(target, "tools"), "a file where a directory should be");
    const { placed, under } = await placeResult(result, { top: target, under: [] }, USER);
    expect(under).toEqual([]);
    expect(placed).toMatchObject({ key: "k", files: 1, links: 1 });
    expect(placed.passedOver).toBeGreaterThanOrEqual(3);
    expect(readFileSync(join(target, "made.txt"), "utf8")).toBe("the base's own");
    expect(readdirSync(outside)).toEqual([]);
    expect(readFileSync(join(target, "tools"), "utf8")).toContain("a file where");
    expect(readlinkSync(join(target, "node_modules/alias"))).toBe("a");
  });

  test("lies under a work tree's layers, unless something there would hide a part of it or it is another user's", async () => {
    using tree = workTree();
    for (const path of ["node_modules/a", "src/node_modules/b"]) tree.write(path);
    expect((await take(tree)).ok).toBe(true);
    const result = await findResult({ root: "", results: tree.results, caches: "" }, SETUP);
    if (result === undefined) throw new Error("no result");
    const base = join(tree.root, "base");
    let made = 0;
    const place = (change: (at: (path: string) => string) => void, user = USER) => {
      rmSync(base, { recursive: true, force: true });
      const top = join(tree.root, `top-${(made += 1)}`);
      for (const directory of [top, join(base, "src")]) mkdirSync(directory, { recursive: true });
      change((path) => join(path.startsWith("^") ? top : base, path.replace("^", "")));
      return placeResult(result, { top, under: [base] }, user);
    };
    const free = await place(() => undefined);
    expect(free).toMatchObject({ under: [result.tree], placed: { files: 2, passedOver: 0 } });
    expect(readdirSync(join(tree.root, "top-1"))).toEqual([]);
    expect(await isSlotUsed(join(tree.results, SETUP.key))).toBe(true);
    rmSync(join(tree.root, "top-1"), { recursive: true });
    expect(await isSlotUsed(join(tree.results, SETUP.key))).toBe(false);
    const hidden = await place((at) => {
      rmSync(at("src"), { recursive: true });
      symlinkSync(tree.root, at("src"));
    });
    expect(hidden.under).toEqual([]);
    expect((await place((at) => mkdirSync(at("node_modules")))).under).toEqual([]);
    expect((await place((at) => writeFileSync(at("^node_modules"), ""))).under).toEqual([]);
    expect((await place(() => undefined, { ...USER, uid: USER.uid + 1 })).under).toEqual([]);
  });
});
