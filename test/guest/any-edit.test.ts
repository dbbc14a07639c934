import {
  chmodSync,
  copyFileSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";
import { importAsHost } from "./host-import.ts";
import { LONG_AGO, type Stage, git, makeStage, runGuest } from "./rig.ts";

// Names are latin1: one character a byte, so that names that are not UTF-8 are among them.
const NAMES = [
  "a",
  "b",
  "d/a",
  "d/b",
  "d/e/f",
  "e",
  "A",
  "we ird",
  "-x",
  'q"t',
  "back\\slash",
  "\xc3\xbc",
  "caf\xe9",
  "n\nl",
  "t\tab",
  "cr\r",
  "\x1b[31m",
  "d/HEAD",
  "a.patch",
  ".gitignore.x",
  "con",
  "trailing ",
];
/** Some more often, so that one file is edited twice. */
const name = fc.oneof(fc.constantFrom("a", "d/a", "always"), fc.constantFrom(...NAMES));
const bytes = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        "one\n",
        "two\n",
        "\r\n",
        "cr\r\n",
        "\ttab \n",
        "From x\n",
        "-- \n",
        "last",
        "\\ No\n",

        "diff --git a/a b/a\n",
        "literal 99999999999\n",
        "GIT binary patch\n",
        "$Id$\n",
        "\f\n",
        "@@ -1 +1 @@\n",
        "--- a/a\n",
        "+++ b/a\n",
        "\0\n",
        "\xef\xbb\xbf",
      ),
      { maxLength: 8 },
    )
    .map((parts) => Buffer.from(parts.join(""), "latin1")),
  fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
);
const attributes = fc.constantFrom(
  "* text=auto\n",
  "*.x -diff\n* -text\n",
  "* text eol=crlf\n",
  "a binary\n",
  "* ident\n",
  "* -diff\n* whitespace=trailing-space\n",
  "* merge=ours diff=x export-ignore\n",
);
const message = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc
    .array(
      fc.constantFrom(
        "Fix",
        "\n",
        "---\n",
        "\n\n",
        "From x\n",
        "diff --git a/a b/a\n",
        "-- >8 --\n",
        "From: A <a@b.c>\n",
        "[tag] ",
        "Re: ",
        "\r\n",
        " \n",
        "Signed-off-by: A <a@b.c>\n",
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join("")),
);
const edit = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("write" as const), name, bytes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("link" as const),
      name,
      target: fc.constantFrom("a", "/etc", "../..", "d", ".git/config", "caf\xe9", "x\ny", "a\r"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("mode" as const),
      name,
      mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444, 0o4711, 0o777, 0o654),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("attributes" as const), attributes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("commit" as const), message }) },
);
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

function below(directory: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${directory}/`), bytesOf(path)]);
}

/** Makes room for a file: whatever stands in its way, also further up, is removed. */
function makeRoom(directory: string, path: string): Buffer {
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = below(directory, parts.slice(0, depth).join("/"));
    const isDirectory = lstatSync(above, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isDirectory) rmSync(above, { force: true });
    if (!isDirectory) mkdirSync(above);
  }
  const full = below(directory, path);
  rmSync(full, { recursive: true, force: true });
  return full;
}

/** Whether nothing on the way to a path is a link: the edits are to stay in the directory. */
function isInside(directory: string, path: string): boolean {
  const parts = path.split("/");
  return parts.every((_, index) => {
    const above = below(directory, parts.slice(0, index).join("/"));
    return lstatSync(above, { throwIfNoEntry: false })?.isSymbolicLink() !== true;
  });
}

/**
 * Plays an agent. Git takes a file that is as young as its index for perhaps changed and looks into it, which makes
 * a difference once attributes have changed; so every file gets a time of its own, in the past.
 */
class Editor {
  readonly #directory: string;
  #seconds = LONG_AGO;

  constructor(directory: string) {
    this.#directory = directory;
  }

  apply(step: Edit): void {
    const directory = this.#directory;
    switch (step.kind) {
      case "write":
        return this.#write(step.name, (path) => writeFileSync(path, step.bytes));
      case "attributes":
        return this.#write(".gitattributes", (path) => writeFileSync(path, step.attributes));
      case "link":
        return this.#write(step.name, (path) => symlinkSync(bytesOf(step.target), path));
      case "delete":
        if (isInside(directory, step.name))
          rmSync(below(directory, step.name), { recursive: true, force: true });
        return;
      case "mode": {
        const path = below(directory, step.name);
        const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
        if (isFile && isInside(directory, step.name)) chmodSync(path, step.mode);
        return;
      }
      case "commit":
        git(directory, ["add", "-A"]);
        git(
          directory,
          ["commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-F-"],
          step.message,
        );
    }
  }

  #write(path: string, write: (path: Buffer) => void): void {
    const full = makeRoom(this.#directory, path);
    write(full);
    this.#seconds += 1;
    lutimesSync(full, this.#seconds, this.#seconds);
  }
}

/**
 * What `git add -A` records of the workspace with an index that knows what the snapshot's index knew: files that
 * nobody touched stay as they are, and attributes apply to all others.
 */
function expectedTree({ directory, workspace, job }: Stage): string {
  const index = join(directory, "expected.index");
  copyFileSync(job.paths.baseIndex, index);
  const inIndex = (args: readonly string[]) =>
    git(workspace, args, undefined, { GIT_INDEX_FILE: index });
  inIndex(["read-tree", "-i", "-m", "HEAD"]);
  inIndex(["add", "-A"]);
  return inIndex(["write-tree"]);
}

async function arrives(start: Readonly<Record<string, Buffer>>, edits: readonly Edit[]) {
  using stage = makeStage({
    files: { always: "here\n" },
    prepare: (user) => {
      for (const [path, content] of Object.entries(start))
        writeFileSync(makeRoom(user, path), content);
    },
    fileTimes: "past",
  });
  const editor = new Editor(stage.workspace);
  for (const step of edits) editor.apply(step);
  const run = await runGuest(stage, { job: { mode: "export" } });
  expect([run.code, run.output]).toEqual([0, ""]);
  const imported = importAsHost(stage, run);
  const { patches, history, committedLeftovers, ignoredLeftBehind } = imported.manifest;
  expect(history).toEqual({ kind: "linear" });
  expect(ignoredLeftBehind.total).toBe(0);
  const commits = git(stage.workspace, ["rev-list", "--reverse", `${stage.base}..HEAD`]);
  const own = patches.slice(0, patches.length - (committedLeftovers ? 1 : 0));
  expect(own.map((patch) => patch.commit)).toEqual(commits.split("\n").filter(Boolean));
  expect(imported.finalTree).toBe(expectedTree(stage));
  // Without attributes there is only one way to record a file.
  if (edits.some((step) => step.kind === "attributes")) return;
  git(stage.workspace, ["add", "-A"]);
  expect(git(stage.workspace, ["write-tree"])).toBe(imported.finalTree);
}

test("any edit that git would record arrives bit for bit", NO_SECOND_TRY, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, bytes, { maxKeys: 6 }),
      fc.array(edit, { maxLength: 12 }),
      arrives,
    ),
    propertyRuns(20),
  );
});
