import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Manifest, PatchEntry } from "../../src/core/artifacts.ts";
import { GUARDLOOP } from "../../src/git/replay.ts";
import { withTrailers } from "../../src/git/with-trailers.ts";
import { importedMetadata } from "../../src/run/artifacts/imported-metadata.ts";
import { ownTrailers } from "../../src/run/artifacts/own-trailers.ts";
import { type Stage, git, makeStage } from "../guest/rig.ts";
import { countingGit } from "../rig/counting-git.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";
import { AGENT, RUN_ID, STARTED_SECONDS, receive } from "../rig/host-stages.ts";

// Series that the import takes together where it can: what they cost, and that nothing of them depends on it.

/** As the guest writes its patches; see docs/artifacts.md. */
const FORMAT =
  "format-patch --quiet -k --always --binary --full-index --no-renames --no-stat --no-signature --zero-commit";
const AUTHOR = { name: "Ada", email: "ada@example.com", date: "1700000000 +0100" };

interface Step {
  /** Lines of git-fast-import(1): what the commit changes. */
  readonly changes: string;
  readonly author?: Partial<PatchEntry["author"]>;
  readonly message?: string;
}

/** Makes the commits, leaves them as a container would, and gives the outbox and what is in its manifest. */
function leave(stage: Stage, steps: readonly Step[]) {
  const commits = steps.map(({ changes }, index) => {
    const from = index === 0 ? `from ${stage.base}\n` : "";
    return `commit refs/heads/series\ncommitter C <c@example.com> 1700000000 +0000\ndata 1\nx\n${from}${changes}\n`;
  });
  git(stage.user, ["fast-import", "--quiet", "--force"], commits.join(""));
  const outbox = mkdtempSync(join(stage.directory, "outbox-"));
  const patches = join(outbox, "patches");
  mkdirSync(patches);
  const range = `${stage.base}..series`;
  git(stage.user, [...FORMAT.split(" "), `--output-directory=${patches}`, range]);
  const trees = git(stage.user, ["log", "--reverse", "--format=%T", range]).split("\n");
  git(stage.user, ["update-ref", "-d", "refs/heads/series"]);
  const entries = readdirSync(patches)
    .toSorted()
    .map((file, index) => ({
      file,
      commit: stage.base,
      tree: trees[index] ?? "",
      author: { ...AUTHOR, ...steps[index]?.author },
      message: steps[index]?.message ?? `Change ${index}\n`,
    }));
  writeFileSync(join(outbox, "selected-task-id.txt"), "T-1\n");
  writeFileSync(join(outbox, "last-commit-message.txt"), "Do it\n");
  writeManifest(stage, outbox, entries);
  return { outbox, entries };
}

function writeManifest(stage: Stage, outbox: string, patches: readonly PatchEntry[]): void {
  const manifest: Manifest = {
    version: 1,
    base: stage.base,
    patches,
    finalTree: patches.at(-1)?.tree ?? "",
    history: { kind: "linear" },
    committedLeftovers: false,
    ignoredLeftBehind: { total: 0, names: [] },
    agent: { outcome: "exited", exitCode: 0, signal: null },
    versions: { guest: "1", node: "22", git: "2" },
  };
  writeFileSync(join(outbox, "manifest.json"), JSON.stringify(manifest));
}

/** A word for each start of Git, and `other` for what is not among these. */
const SUBCOMMAND = `for word in "$@"; do
  case "$word" in mailsplit | mailinfo | apply | write-tree | read-tree | commit-tree | cat-file | diff-tree | fast-import | ls-tree | pack-objects | index-pack | update-ref | rev-parse | init) break ;; esac
  word=other
done
note "$word"`;

async function importOf(stage: Stage, outbox: string, path?: string) {
  const stateDir = mkdtempSync(join(stage.directory, "state-"));
  const side = { topLevel: stage.user, outbox, base: stage.base, stateDir };
  return receive({ ...side, ...(path === undefined ? {} : { path }) });
}

function writes(path: string, text: string, mode = "100644"): string {
  return `M ${mode} inline "${path}"\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}

function smallSteps(count: number): readonly Step[] {
  return Array.from({ length: count }, (_, index) => ({
    changes: writes(`work/file-${index % 5}.txt`, `line ${index}\n`),
  }));
}

async function startsFor(steps: readonly Step[]): Promise<readonly string[]> {
  const stage = makeStage();
  const { outbox } = leave(stage, steps);
  const counting = countingGit(stage.directory, SUBCOMMAND);
  const received = await importOf(stage, outbox, counting.path);
  if (!received.ok) throw new Error(received.error.message);
  expect(received.value.imported.commits).toBe(steps.length);
  return counting.starts();
}

test("a series of changes to text takes a few starts of Git, and the same for all", async () => {
  const few = await startsFor(smallSteps(4));
  const many = await startsFor(smallSteps(240));
  // Trees and files as they are, fast-import, what came of it, its size, the pack, the branch.
  const own = ["cat-file", "fast-import", "diff-tree", "ls-tree", "index-pack", "update-ref"];
  // What the test asks of the repository before.
  const words = [...own, "other", "rev-parse"].toSorted();
  expect(few.toSorted()).toEqual(words);
  expect(many.toSorted()).toEqual(words);
});

test("where content is binary Git applies the patches, with three starts for each and nothing of the repository's size", async () => {
  const steps = (count: number): readonly Step[] =>
    Array.from({ length: count }, (_, index) => ({
      changes: writes(`work/file-${index % 5}.bin`, `\0${index}\n`),
    }));
  const few = await startsFor(steps(4));
  const many = await startsFor(steps(24));
  const perPatch = (starts: readonly string[]): number =>
    starts.filter((word) => ["mailinfo", "apply", "write-tree"].includes(word)).length;
  // A tree before the first, too, each time that some are taken together.
  expect(perPatch(few)).toBeLessThanOrEqual(3 * 4 + 3);
  expect(perPatch(many)).toBeLessThanOrEqual(3 * 24 + 5);
  expect(many.filter((word) => word === "read-tree" || word === "commit-tree")).toEqual([]);
});

const TEXT = fc
  .array(
    fc.constantFrom("a", "b", "", "  c", "d\r", "-- e", "++ f", "\\ g", "@@ -1 +1 @@", "\u00e9"),
    {
      maxLength: 30,
    },
  )
  .chain((lines) => fc.constantFrom(lines.join("\n"), `${lines.join("\n")}\n`));
const PATH = fc.constantFrom("a.txt", "README.md", "deep/b c.txt", "deep/er/d", "\\303\\251");
const CHANGE = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(PATH, TEXT).map(([path, text]) => writes(path, text)) },
  fc.tuple(PATH, TEXT).map(([path, text]) => writes(path, text, "100755")),
  fc.tuple(PATH, fc.constantFrom("a.txt", "x/y")).map(([path, to]) => writes(path, to, "120000")),
  PATH.map((path) => `D "${path}"\n`),
);
const SERIES = fc.array(
  fc.array(CHANGE, { maxLength: 4 }).map((changes): Step => ({ changes: changes.join("") })),
  { minLength: 5, maxLength: 25 },
);

test(
  "no series of changes to text needs Git for its patches, and each gives Git's trees",
  NO_SECOND_TRY,
  async () => {
    await fc.assert(
      fc.asyncProperty(SERIES, async (steps) => {
        const starts = await startsFor(steps);
        expect(starts.filter((word) => word === "apply")).toEqual([]);
      }),
      propertyRuns(12),
    );
  },
);

const ODD: readonly Step[] = [
  { changes: writes("a.txt", "one\n") },
  { changes: writes('dir with "quotes"/\\303\\251 \\\\ x.txt'.replaceAll('"', '\\"'), "two\n") },
  { changes: writes("a.txt", "one\n", "100755") },
  { changes: writes("data.bin", "a\0b\n"), message: "Data\n\nCloses: #1\n" },
  { changes: "" },
  { changes: writes("link", "a.txt", "120000") },
  // Git takes the dot off such a name, and only Git knows what else.
  { changes: writes("a.txt", "three\n"), author: { name: "Ada L." } },
  { changes: writes("a.txt", "four\n"), author: { date: "001700000001 -0000" } },
  { changes: writes("deep/er/file.txt", "x\n"), message: "Not quite \uFFFE Unicode\n" },
  // A file in the place of a directory, and the other way round.
  { changes: `D deep/er/file.txt\n${writes("deep", "y\n")}` },
  { changes: `D deep\n${writes("deep/again.txt", "z\n")}` },
  { changes: "D data.bin\n" },
  { changes: writes("-- x.sql", "-- a/comment\n++ b/another\n") },
  { changes: writes("-- x.sql", "++ b/another\n") },
  { changes: writes("README.md", "new\n"), message: "\n" },
];

test("whatever is in a series, it has the ids that Git gives its commits one by one", async () => {
  const stage = makeStage({ files: { "README.md": "old\n", "kept/x.txt": "x\n" } });
  const { outbox, entries } = leave(stage, ODD);
  const received = await importOf(stage, outbox);
  if (!received.ok) throw new Error(received.error.message);
  const { branch } = received.value.imported;
  const ids = git(stage.user, ["rev-list", "--reverse", `${stage.base}..${branch}`]).split("\n");
  expect(ids).toEqual(oneByOne(stage, entries));
});

/** What `git commit-tree` makes of trees and metadata. */
function oneByOne(stage: Stage, entries: readonly PatchEntry[]): readonly string[] {
  const date = `${STARTED_SECONDS} +0000`;
  let parent = stage.base;
  return entries.map((entry) => {
    const known = { message: "Do it\n", agent: AGENT, authorship: "keep", date } as const;
    const { message, author, trailers } = importedMetadata(entry, known);
    const all = [...trailers, ...ownTrailers(RUN_ID, "T-1")];
    parent = git(
      stage.user,
      ["commit-tree", entry.tree, "-p", parent],
      withTrailers(message, all),
      {
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_AUTHOR_DATE: `@${author.date}`,
        GIT_COMMITTER_NAME: GUARDLOOP.name,
        GIT_COMMITTER_EMAIL: GUARDLOOP.email,
        GIT_COMMITTER_DATE: `@${date}`,
      },
    );
    return parent;
  });
}

test("the first patch that is not as it should be is named, however many are good before and behind it", async () => {
  const stage = makeStage();
  const { outbox, entries } = leave(stage, smallSteps(30));
  const [wrong = entries[0], other = entries[0]] = [entries[17], entries[23]];
  if (wrong === undefined || other === undefined) throw new Error("no entries");
  const claimed = entries.map((entry) =>
    entry === wrong || entry === other ? { ...entry, tree: "1".repeat(40) } : entry,
  );
  writeManifest(stage, outbox, claimed);
  const received = await importOf(stage, outbox);
  expect(received.ok ? "" : `${received.error.code}: ${received.error.message}`).toBe(
    `import-mismatch: patches/${wrong.file} gives the tree ${wrong.tree}, but the agent had ${"1".repeat(40)}.`,
  );
});

test("a commit that must not be published is refused, not what is wrong with one behind it", async () => {
  const stage = makeStage();
  const steps = [
    ...smallSteps(5),
    { changes: writes("sub/.gitattributes", `${"x".repeat(3000)}\n`) },
    ...smallSteps(3),
  ];
  const { outbox, entries } = leave(stage, steps);
  const last = join(outbox, "patches", entries.at(-1)?.file ?? "");
  writeFileSync(last, readFileSync(last, "utf8").replaceAll(/^-line/gm, "-other"));
  const received = await importOf(stage, outbox);
  expect(received.ok ? "" : `${received.error.code}: ${received.error.message}`).toMatch(
    /^import-refused: "sub\/.gitattributes" has a line of 3000 bytes/,
  );
});

test("two mails in one file among many files are found, and the file is named", async () => {
  const stage = makeStage();
  const { outbox, entries } = leave(stage, smallSteps(6));
  const path = join(outbox, "patches", entries[3]?.file ?? "");
  const mail = readFileSync(path, "utf8");
  writeFileSync(path, `${mail}\n${mail}`);
  const received = await importOf(stage, outbox);
  expect(received.ok ? "" : `${received.error.code}: ${received.error.message}`).toBe(
    `bad-patches: patches/${entries[3]?.file} does not hold exactly one mail.`,
  );
});
