import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Looked, lookAt } from "../../src/run/layers/file-state.ts";
import {
  CHANGED,
  type WantedFile,
  judgedEarlier,
  letInPool,
  provideLetIn,
} from "../../src/run/layers/let-in-pool.ts";
import { slotsOf } from "../../src/run/layers/slots.ts";

const USER = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/** A work tree with files, and the layers of its repository. */
function workTree() {
  const root = mkdtempSync(join(tmpdir(), "guardloop-let-in-"));
  const from = join(root, "work");
  const pool = letInPool(join(root, "layers"));
  let runs = 0;
  const at = {
    from,
    write(path: string, text = path): void {
      mkdirSync(dirname(join(from, path)), { recursive: true });
      writeFileSync(join(from, path), text);
    },
    /** What a look says once the file has not been changed for a while. */
    look(path: string, changes: Partial<Looked> = {}): WantedFile {
      const looked = lookAt(join(from, path));
      if (looked === undefined) throw new Error(`${path} is not there`);
      return { from, looked: { ...looked, changed: "earlier", ...changes } };
    },
    /** A run's layer; the run goes on until its holder is removed. */
    async provide(wanted: ReadonlyMap<string, WantedFile>, judge = "this") {
      const holder = join(root, `run-${(runs += 1)}`);
      mkdirSync(holder);
      const slots = await slotsOf(pool);
      const judged = { "a path": ["its state", ""] as const };
      const made = await provideLetIn({ pool, slots, owner: USER, holder, wanted, judged, judge });
      if (!made.ok) throw new Error(made.error.message);
      return { layer: made.value, end: () => rmSync(holder, { recursive: true }) };
    },
    all: (...paths: readonly string[]) => new Map(paths.map((path) => [path, at.look(path)])),
    judgedBy: async (judge: string) => judgedEarlier(await slotsOf(pool), judge),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
  return at;
}

function inode(layer: { readonly files: string } | undefined, path: string): number {
  return lstatSync(join(layer?.files ?? "", path)).ino;
}

describe("a layer of files that were let in", () => {
  test("is moved on by difference: only what changed is copied, and what is gone goes", async () => {
    using tree = workTree();
    for (const path of ["deps/kept/a", "deps/changed", "deps/gone/deep/b"]) tree.write(path);
    const first = await tree.provide(tree.all("deps/kept/a", "deps/changed", "deps/gone/deep/b"));
    const before = { kept: inode(first.layer, "deps/kept/a"), files: first.layer?.files };
    first.end();
    tree.write("deps/changed", "other text");
    tree.write("deps/new");
    const { layer } = await tree.provide(tree.all("deps/kept/a", "deps/changed", "deps/new"));
    expect({ kept: inode(layer, "deps/kept/a"), files: layer?.files }).toEqual(before);
    expect(readFileSync(join(layer?.files ?? "", "deps/changed"), "utf8")).toBe("other text");
    expect(readdirSync(join(layer?.files ?? "", "deps")).toSorted()).toEqual([
      "changed",
      "kept",
      "new",
    ]);
  });

  test("is never changed while a run works over it: the next one with other files gets its own", async () => {
    using tree = workTree();
    tree.write("deps/a");
    const first = await tree.provide(tree.all("deps/a"));
    const shared = await tree.provide(tree.all("deps/a"));
    expect(shared.layer?.files).toBe(first.layer?.files);
    tree.write("deps/a", "other text");
    const second = await tree.provide(tree.all("deps/a"));
    expect(second.layer?.files).not.toBe(first.layer?.files);
    expect(readFileSync(join(first.layer?.files ?? "", "deps/a"), "utf8")).toBe("deps/a");
    for (const text of ["3", "4"]) {
      tree.write("deps/a", text);
      await tree.provide(tree.all("deps/a"));
    }
    tree.write("deps/a", "5");
    expect((await tree.provide(tree.all("deps/a"))).layer).toBeUndefined();
    first.end();
    shared.end();
    expect((await tree.provide(tree.all("deps/a"))).layer?.files).toBe(first.layer?.files);
  });

  test("copies a file anew that was changed so lately that another change might not show", async () => {
    using tree = workTree();
    tree.write("deps/a");
    const lately = () => new Map([["deps/a", tree.look("deps/a", { changed: "lately" })]]);
    const first = await tree.provide(lately());
    // As if the file had been changed after it was copied, within one tick of the kernel's clock.
    writeFileSync(join(first.layer?.files ?? "", "deps/a"), "an older text");
    first.end();
    const { layer } = await tree.provide(lately());
    expect(readFileSync(join(layer?.files ?? "", "deps/a"), "utf8")).toBe("deps/a");
  });

  test("does not take a file that is another one than was judged", async () => {
    using tree = workTree();
    tree.write("deps/a");
    const wanted = tree.all("deps/a");
    tree.write("deps/a", "something else, put there meanwhile");
    const { layer } = await tree.provide(wanted);
    expect(layer?.failed).toEqual(new Map([["deps/a", CHANGED]]));
    expect(readdirSync(join(layer?.files ?? "", "deps"))).toEqual([]);
  });

  test("passes over what is gone, and what contradicts another work tree's", async () => {
    using tree = workTree();
    for (const path of ["a", "b", "gone"]) tree.write(path);
    const wanted = new Map([...tree.all("a", "gone"), ["a/below", tree.look("b")]]);
    rmSync(join(tree.from, "gone"));
    const { layer } = await tree.provide(wanted);
    expect([...(layer?.failed.keys() ?? [])]).toEqual(["gone", "a/below"]);
    expect(readdirSync(layer?.files ?? "")).toEqual(["a"]);
  });

  test("is not believed about what another guardloop thought of the files", async () => {
    using tree = workTree();
    tree.write("a");
    await tree.provide(tree.all("a"), "this");
    expect(await tree.judgedBy("this")).toEqual([{ "a path": ["its state", ""] }]);
    expect(await tree.judgedBy("that")).toEqual([]);
  });
});
