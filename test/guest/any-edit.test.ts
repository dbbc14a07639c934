import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { importAsHost } from "./host-import.ts";
import { git, makeStage, runGuest } from "./rig.ts";

const NAMES = [
  "a",
  "b",
  "d/a",
  "d/b",
  "d/e/f",
  "e",
  "we ird",
  "-x",
  'q"t',
  "ü",
  "n\nl",
  ".gitattributes",
];
const name = fc.constantFrom(...NAMES);
const bytes = fc.oneof(
  fc
    .array(
      fc.constantFrom("one\n", "two\n", "\r\n", "cr\r\n", "\ttab \n", "From x\n", "-- \n", "last"),
      { maxLength: 8 },
    )
    .map((parts) => Buffer.from(parts.join(""))),
  fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
);
const attributes = fc.constantFrom(
  "* text=auto\n",
  "*.x -diff\n* -text\n",
  "* text eol=crlf\n",
  "a binary\n",
  "* ident\n",
);
const edit = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("write" as const), name, bytes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("link" as const),
      name,
      target: fc.constantFrom("a", "/etc", "../..", "d"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("mode" as const),
      name,
      mode: fc.constantFrom(0o644, 0o755),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("attributes" as const), attributes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("commit" as const),
      message: fc.string({ unit: "grapheme" }),
    }),
  },
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** Makes room for a file: whatever stands in its way, also further up, is removed. */
function makeRoom(directory: string, path: string): string {
  const parts = path.split("/");
  for (const [index] of parts.entries()) {
    const above = join(directory, ...parts.slice(0, index));
    if (index > 0 && existsSync(above) && !lstatSync(above).isDirectory()) rmSync(above);
    if (index > 0 && lstatSync(above, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      rmSync(above);
  }
  const full = join(directory, path);
  rmSync(full, { recursive: true, force: true });
  mkdirSync(dirname(full), { recursive: true });
  return full;
}

function apply(directory: string, step: Edit): void {
  switch (step.kind) {
    case "write":
      writeFileSync(makeRoom(directory, step.name), step.bytes);
      return;
    case "attributes":
      writeFileSync(makeRoom(directory, ".gitattributes"), step.attributes);
      return;
    case "delete":
      rmSync(join(directory, step.name), { recursive: true, force: true });
      return;
    case "link":
      symlinkSync(step.target, makeRoom(directory, step.name));
      return;
    case "mode": {
      const path = join(directory, step.name);
      if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) chmodSync(path, step.mode);
      return;
    }
    case "commit":
      git(directory, ["add", "-A"]);
      git(
        directory,
        ["commit", "-q", "--allow-empty", "--allow-empty-message", "-F", "-"],
        step.message,
      );
  }
}

test("any edit that git would record arrives bit for bit", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        name.filter((path) => path !== ".gitattributes"),
        bytes,
        { maxKeys: 6 },
      ),
      fc.array(edit, { maxLength: 12 }),
      async (start, edits) => {
        const files = Object.entries(start).filter(([path]) => path !== "d");
        const stage = makeStage({ files: { always: "here\n", ...Object.fromEntries(files) } });
        for (const step of edits) apply(stage.workspace, step);
        const run = await runGuest(stage, { job: { mode: "export" } });
        expect([run.code, run.output]).toEqual([0, ""]);
        const imported = importAsHost(stage, run);
        expect(imported.manifest.history).toEqual({ kind: "linear" });
        git(stage.workspace, ["add", "-A"]);
        expect(git(stage.workspace, ["write-tree"])).toBe(imported.finalTree);
        const commits = git(stage.workspace, ["rev-list", "--reverse", `${stage.base}..HEAD`]);
        const own = imported.manifest.committedLeftovers ? 1 : 0;
        const ids = imported.manifest.patches.map((patch) => patch.commit);
        expect(ids.slice(0, ids.length - own)).toEqual(commits.split("\n").filter(Boolean));
      },
    ),
    { numRuns: 40, endOnFailure: true },
  );
}, 300_000);
