import { mkdirSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { receive } from "../rig/host-stages.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";
import { git, gitBytes, makeStage, runGuest } from "./rig.ts";

// Histories that no porcelain would make: any bytes as message, odd authors, merges, branches from anywhere.

/** Names are latin1, one character a byte; some are directories of others. */
const NAMES = [
  "a",
  "b",
  "d",
  "d/a",
  "d/b/c",
  "A",
  "-x",
  'q"t',
  "caf\xe9",
  "n\nl",
  "\x1b[2J",
  "src/a.txt",
];
const name = fc.constantFrom(...NAMES);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array)),
  fc
    .array(fc.constantFrom("one\n", "two\r\n", "--- a\n", "+x\n", "From x\n", "\0", "last"), {
      maxLength: 6,
    })
    .map((parts) => Buffer.from(parts.join(""))),
);
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      name,
      mode: fc.constantFrom("100644", "100755"),
      bytes,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      name,
      mode: fc.constant("120000"),
      bytes: fc
        .constantFrom("a", "/etc/passwd", "../x", "d", "caf\xe9", "x\n")
        .map((to) => Buffer.from(to, "latin1")),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), name }) },
);
const text = fc
  .array(
    fc.constantFrom(
      "Fix",
      "\n",
      "\n\n",
      "---\n",
      "diff --git a/x b/x\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n",

      "From x\n",
      "From: A <a@b.c>\n",
      "-- >8 --\n",
      "# x\n",
      "Conflicts:\n",
      "[a] ",
      "Re: ",
      "é",
      "\u202e",

      "\r\n",
      " \n",
      "\t",
      "Signed-off-by: A <a@b.c>\n",
      "\x1b[31m",
      "\ufeff",
      "Index: x\n",
      "-- \n",
    ),
    { maxLength: 9 },
  )
  .map((parts) => Buffer.from(parts.join("")));
const message = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }).map((array) => Buffer.from(array)) },
);
const author = fc.oneof(
  { weight: 3, arbitrary: fc.constant("Agent Smith <agent@example.com> 1700000000 +0100") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "Smith, J. (dev) <j@x> 1 +0000",
      " <> 1700000000 +0000",
      "李 <l@x> 99999999999 +9999",

      "\x1b[31mA <a b@x> 1700000000 -0330",
      "=?utf-8?q?x?= <a@x> 0 -1200",
      "caf\xe9 <a@x> 5 +0000",
    ),
  },
);
const commit = fc.record({
  changes: fc.array(change, { maxLength: 4 }),
  message,
  author,
  /** Mostly the commit before; else an earlier one. */
  onto: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(5) }),
  merges: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.nat(5) },
  ),
});
type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never;

/** What git-fast-import(1) reads. Mark 0 is the base. */
function stream(commits: readonly Commit[], base: string): Buffer {
  const parts: Buffer[] = [];
  const add = (line: string, encoding: BufferEncoding = "latin1"): void =>
    void parts.push(Buffer.from(`${line}\n`, encoding));
  const data = (content: Buffer): void => {
    add(`data ${content.length}`);
    parts.push(content, Buffer.from("\n"));
  };
  const mark = (number: number): string => (number <= 0 ? base : `:${number}`);
  const quoted = (path: string): string =>
    `"${path.replaceAll(/[^ -~]|["\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`)}"`;
  for (const [index, one] of commits.entries()) {
    add("commit refs/heads/main");
    add(`mark :${index + 1}`);
    add(`author ${one.author}`, one.author.includes("\xe9") ? "latin1" : "utf8");
    add("committer Agent Smith <agent@example.com> 1700000000 +0000");
    data(one.message);
    add(`from ${mark(index - one.onto)}`);
    if (one.merges !== undefined) add(`merge ${mark(index - one.merges)}`);
    for (const step of one.changes) {
      if (step.kind === "delete") add(`D ${quoted(step.name)}`);
      else {
        add(`M ${step.mode} inline ${quoted(step.name)}`);
        data(step.bytes);
      }
    }
    add("");
  }
  return Buffer.concat(parts);
}

/** Whether text survives as it is: UTF-8 without a NUL. */
function isText(content: Buffer): boolean {
  return Buffer.from(content.toString("utf8")).equals(content) && !content.includes(0);
}

interface Made {
  readonly ids: readonly string[];
  readonly raw: readonly Buffer[];
  readonly isLine: boolean;
}

/** The commits between base and tip, the oldest first, as Git has them. */
function madeIn(repository: string, base: string): Made {
  const rows = git(repository, [
    "rev-list",
    "--reverse",
    "--topo-order",
    "--parents",
    `${base}..main`,
  ])
    .split("\n")
    .filter(Boolean)
    .map((row) => row.split(" "));
  const ids = rows.map(([id = ""]) => id);
  return {
    ids,
    raw: ids.map((id) => gitBytes(repository, ["cat-file", "commit", id])),
    isLine: rows.every(([, ...parents], index) => parents.join(" ") === (ids[index - 1] ?? base)),
  };
}

/** Half of the time the guest checks with an index of all files, else with one of those that change. */
async function arrives(commits: readonly Commit[], checked: "all" | "changed"): Promise<void> {
  using stage = makeStage({ fileTimes: "past" });
  const { workspace, base } = stage;
  const load = ["fast-import", "--quiet", "--force", "--date-format=raw-permissive"];
  git(workspace, load, stream(commits, base));
  git(workspace, ["reset", "-q", "--hard", "main"]);
  const made = madeIn(workspace, base);
  const { paths } = stage.job;
  const baseIndex = checked === "all" ? paths.baseIndex : join(stage.directory, "none");
  const run = await runGuest(stage, { agent: "true", job: { paths: { ...paths, baseIndex } } });
  if (run.manifest === undefined) throw new Error(run.output);
  const { history, patches, finalTree } = run.manifest;
  const tree = git(workspace, ["rev-parse", "main^{tree}"]);
  expect(finalTree).toBe(tree);
  const isExact = made.isLine && made.raw.every((raw) => isText(raw));
  expect(history).toEqual(
    isExact
      ? { kind: "linear" }
      : { kind: "flattened", reason: expect.any(String), commits: made.ids.length },
  );
  if (isExact)
    expect(patches.map((patch) => exactly(patch))).toEqual(
      made.raw.map((raw, index) => [made.ids[index], ...factsOf(raw)]),
    );

  const stateDir = join(stage.directory, "state");
  mkdirSync(stateDir);
  const received = await receive({ topLevel: stage.user, outbox: stage.artifacts, base, stateDir });
  const ending = received.ok ? "imported" : `${received.error.code}: ${received.error.message}`;
  const isNothing = patches.length === 0;
  const steers = commits.some((one) => one.changes.some((step) => /\p{Cc}/u.test(step.name)));
  const endings = steers ? /^(?:imported$|import-refused: .*control character)/ : /^imported$/;
  expect(ending).toMatch(isNothing ? /^missing-patches: / : endings);
  if (isNothing) expect(tree).toBe(git(workspace, ["rev-parse", `${base}^{tree}`]));
  if (!received.ok) return;
  const { branch, remarks } = received.value.imported;
  expect(remarks.some((remark) => remark.startsWith("History was flattened"))).toBe(!isExact);
  const trees = git(stage.user, ["log", "--reverse", "--format=%T", `${base}..${branch}`]).split(
    "\n",
  );
  expect(trees).toEqual(patches.map((patch) => patch.tree));
  expect(trees.at(-1)).toBe(tree);
}

function exactly({
  commit: id,
  tree,
  author: by,
  message: says,
}: NonNullable<Awaited<ReturnType<typeof runGuest>>["manifest"]>["patches"][number]) {
  return [id, tree, `${by.name} <${by.email}> ${by.date}`, says];
}

function factsOf(raw: Buffer): readonly string[] {
  const textOf = new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw);
  const end = textOf.indexOf("\n\n");
  const header = (key: string): string =>
    new RegExp(`^${key} (.*)$`, "m").exec(textOf.slice(0, end))?.[1] ?? "";
  return [header("tree"), header("author"), textOf.slice(end + 2)];
}

test(
  "any series of commits arrives bit for bit, or as one commit that says why",
  NO_SECOND_TRY,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(commit, { minLength: 1, maxLength: 6 }),
        fc.constantFrom("all", "changed"),
        arrives,
      ),
      propertyRuns(15),
    );
  },
);
