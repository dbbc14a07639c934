import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunSpec } from "../../src/core/run-spec.ts";
import { type World, makeWorld, runsOf } from "../rig/world.ts";

const METHODS = ["overlay", "reflink", "copy"] as const;

/** Changes of every kind, among them those that are different over layers: what lies below goes, moves, or is replaced. */
const WORK = [
  'test -z "$(git status --porcelain)" || exit 9',
  "mv tree/moved tree/there",
  "git mv tree/kept/a tree/kept/b",
  "rm -r tree/gone",
  "rm tree/file && mkdir tree/file && echo in > tree/file/in",
  "rm -r tree/directory && ln -s kept tree/directory",
  "chmod +x tree/mode",
  "echo more >> tree/text",
  "ln tree/text tree/hard",
  "git add -A && git commit -qm 'Change all'",
  "sed -i s/ready/done/ docs/TASKS.md && git commit -qam 'Set it done'",
  'echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"',
  'echo All > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"',
].join("\n");

function withTree(world: World): void {
  for (const path of [
    "moved/x/1",
    "moved/2",
    "kept/a",
    "gone/3",
    "file",
    "directory/4",
    "mode",
    "text",
  ])
    world.write(`tree/${path}`, `${path}\n`);
  world.commit("a tree");
}

/** A file system that clones files; the state directory of the runs is on it. */
function cloning(): { readonly place: string; readonly end: () => void } {
  const root = mkdtempSync(join(tmpdir(), "guardloop-btrfs-"));
  const [image, place] = [join(root, "image"), join(root, "mounted")];
  writeFileSync(image, "");
  // The floor of free space counts here too; the file is sparse.
  truncateSync(image, 6 * 2 ** 30);
  mkdirSync(place);
  execFileSync("mkfs.btrfs", ["--quiet", image], { stdio: "ignore" });
  execFileSync("mount", ["-o", "loop", image, place]);
  return {
    place,
    end() {
      execFileSync("umount", [place]);
      rmSync(root, { recursive: true });
    },
  };
}

let disk: ReturnType<typeof cloning>;

beforeAll(() => {
  disk = cloning();
});
afterAll(() => {
  disk.end();
});

describe("on a real engine, however a snapshot gets its files", () => {
  const trees = new Map<string, string>();

  test.each(METHODS)("%s: what the agent did to them comes back", async (method) => {
    using world = makeWorld("docker");
    withTree(world);
    world.env["XDG_STATE_HOME"] = join(disk.place, method);
    const args = [
      "run",
      "--agent",
      "command",
      "--snapshot-method",
      method,
      "--",
      "sh",
      "-ec",
      WORK,
    ];
    const ended = await world.guardloop(args);
    expect(`${ended.code} ${ended.stderr}`).toMatch(/^0 /);
    const [run] = await runsOf(world);
    const state = join(disk.place, method, "guardloop");
    const spec = JSON.parse(
      readFileSync(join(state, "runs", run?.id ?? "", "spec.json"), "utf8"),
    ) as RunSpec;
    expect(spec.snapshot?.method).toBe(method);
    const paths = world.git(
      "ls-tree",
      "-r",
      "--format=%(objectmode) %(path)",
      run?.branch ?? "",
      "tree/",
    );
    expect(paths.split("\n")).toEqual([
      "120000 tree/directory",
      "100644 tree/file/in",
      "100644 tree/hard",
      "100644 tree/kept/b",
      "100755 tree/mode",
      "100644 tree/text",
      "100644 tree/there/2",
      "100644 tree/there/x/1",
    ]);
    trees.set(method, world.git("rev-parse", `${run?.branch ?? ""}:tree`));
    expect(existsSync(join(state, "runs", run?.id ?? "", "workspace"))).toBe(false);
  });

  test("and it is the same with each", () => {
    expect(new Set(trees.values()).size).toBe(1);
    expect([...trees.keys()]).toEqual([...METHODS]);
  });
});
