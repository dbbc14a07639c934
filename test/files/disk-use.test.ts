import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { diskUse } from "../../src/files/disk-use.ts";

const NO_LIMIT = { bytes: Infinity, entries: Infinity };
const MIB = 1024 ** 2;

/** A directory `tree` filled by a shell script, beside a directory `outside` that has five megabytes. */
function filled(script: string): string {
  const root = mkdtempSync(join(tmpdir(), "guardloop-disk-"));
  onTestFinished(() => {
    execFileSync("sh", ["-c", 'chmod -R u+rwx "$1" 2>/dev/null; rm -rf "$1"', "sh", root]);
  });
  const tree = join(root, "tree");
  mkdirSync(tree);
  execFileSync("sh", ["-ec", `mkdir ../outside; ${bytes(5)} > ../outside/big; ${script}`], {
    cwd: tree,
    stdio: "inherit",
  });
  return tree;
}

/** Prints megabytes that no file system stores in less. */
function bytes(mebibytes: number): string {
  return `head -c ${mebibytes * MIB} /dev/urandom`;
}

async function measured(tree: string, limit = NO_LIMIT) {
  const { signal } = new AbortController();
  return diskUse([tree], { limit, pace: "at-once", signal });
}

describe("what a tree takes on the disk", () => {
  test("is what its files have, in all directories", async () => {
    const tree = filled(`mkdir -p a/b; ${bytes(2)} > a/b/two; ${bytes(1)} > one`);
    const { outcome, use } = await measured(tree);
    expect(outcome).toBe("whole");
    expect(use.entries).toBe(4);
    expect(use.bytes).toBeGreaterThanOrEqual(3 * MIB);
    expect(use.bytes).toBeLessThan(3.5 * MIB);
  });

  test("does not count the holes of a sparse file", async () => {
    const { use } = await measured(filled("truncate -s 1T huge"));
    expect(use.bytes).toBeLessThan(MIB);
  });

  test("counts a file with many names once", async () => {
    const { use } = await measured(
      filled(`${bytes(1)} > f; for n in 1 2 3 4 5 6 7 8 9; do ln f $n; done`),
    );
    expect(use.entries).toBe(10);
    expect(use.bytes).toBeLessThan(1.5 * MIB);
  });

  test("does not follow links, out of the tree or in a circle", async () => {
    const { use } = await measured(
      filled("ln -s ../outside out; ln -s . self; ln -s /proc proc; ln -s nowhere gone"),
    );
    expect(use).toMatchObject({ entries: 4 });
    expect(use.bytes).toBeLessThan(MIB);
  });

  test("is nothing where a link has taken the directory's place", async () => {
    const tree = filled("ln -s ../outside link");
    expect((await measured(join(tree, "link"))).use).toEqual({ bytes: 0, entries: 0 });
  });

  test("knows names of any bytes", async () => {
    const { use } = await measured(
      filled(`d="$(printf 'd\\377\\n')"; mkdir "$d"; ${bytes(1)} > "$d/$(printf '\\351')"`),
    );
    expect(use.entries).toBe(2);
    expect(use.bytes).toBeGreaterThanOrEqual(MIB);
  });

  test("leaves out what cannot be opened, FIFOs and sockets included, and goes on", async () => {
    const { outcome, use } = await measured(filled(`mkfifo pipe; mkdir z; ${bytes(1)} > z/f`));
    expect(outcome).toBe("whole");
    expect(use.entries).toBe(3);
    expect(use.bytes).toBeGreaterThanOrEqual(MIB);
  });

  test("is not known of directories nested deeper than any path can say", async () => {
    const nest = `"${process.execPath}" -e 'for (let n = 0; n < 600; n += 1) { require("fs").mkdirSync("d123456789"); process.chdir("d123456789"); }'`;
    const { outcome, use } = await measured(filled(`${nest}; ${bytes(1)} > beside`));
    expect(outcome).toBe("deep");
    expect(use.bytes).toBeGreaterThanOrEqual(MIB);
  });

  test("is all of a tree whose paths are long and not deep", async () => {
    const nest = `"${process.execPath}" -e 'const name = "d".repeat(200); for (let n = 0; n < 100; n += 1) { require("fs").mkdirSync(name); process.chdir(name); } require("fs").writeFileSync("f", "x")'`;
    const { outcome, use } = await measured(filled(nest));
    expect(outcome).toBe("whole");
    expect(use.entries).toBe(101);
  });

  test("is no more looked for beyond the limit", async () => {
    const tree = filled("for n in $(seq 1000); do : > $n; done");
    const { outcome, use } = await measured(tree, { bytes: Infinity, entries: 100 });
    expect(outcome).toBe("over");
    expect(use.entries).toBeGreaterThan(100);
    expect(use.entries).toBeLessThan(300);
    expect((await measured(tree, { bytes: -1, entries: Infinity })).outcome).toBe("over");
  });

  test("is not looked for when nobody wants to know any more, or nothing is there", async () => {
    const tree = filled("mkdir a; : > a/b");
    const options = { limit: NO_LIMIT, pace: "gently", signal: AbortSignal.abort() } as const;
    expect((await diskUse([tree], options)).outcome).toBe("stopped");
    expect((await measured(join(tree, "missing"))).use).toEqual({ bytes: 0, entries: 0 });
  });
});
