import { copyFileSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Git, must, mustText, words } from "./git.ts";
import { treeOf } from "./history.ts";
import type { PatchFile } from "./patches.ts";
import { NO_MODE } from "./raw-diff.ts";
import type { RoundTrip } from "./round-trip.ts";

/**
 * Applies one mail after another in one shell, since to start a program takes longer than a small patch. A constant:
 * Git's own argv comes as positional parameters, and files have names of ours. `mailsplit` says of all together that they
 * are as many mails as files, and finds at least one in each; nothing waits for that. Prints the tree after each mail,
 * and before the first one where the index is made of `info`.
 */
const SCRIPT = `
"$@" mailsplit -d4 --keep-cr -osplit -- in/* >found &
splitting=$!
if test -e info; then
  "$@" update-index -z --index-info <info || exit
  "$@" write-tree || exit
fi
files=0
for mail in in/*; do
  files=$((files + 1))
  "$@" mailinfo -k --no-scissors --encoding=UTF-8 message diff <"$mail" >/dev/null || exit
  # An empty commit: git-apply(1) refuses an empty patch.
  test ! -s diff || "$@" apply --cached --whitespace=nowarn -- diff || exit
  "$@" write-tree || exit
done
wait $splitting || exit
read -r found <found
test "$found" = "$files"
`;

const MAX_CHANGES_BYTES = 512 * 1024 * 1024;

/**
 * So much may be written of indexes, for all patches together, before the other way is the shorter one: some 10,000 files
 * once.
 */
const MAX_INDEX_BYTES = 1024 * 1024;

/** Whether the patches give back every tree. Starts Git three times for a patch, and a few times for all. */
export async function isSeriesSound(
  trip: RoundTrip,
  patches: readonly PatchFile[],
  directory: string,
): Promise<boolean> {
  if (patches.length === 0) return true;
  const work = join(trip.directory, "series");
  const mails = patches.map(({ file }) => join(directory, file));
  prepare(work, mails);
  const sizeBytes = sizeOf(trip.baseIndex);
  const trees =
    sizeBytes !== undefined && sizeBytes * patches.length <= MAX_INDEX_BYTES
      ? await treesOnWhole(trip, work)
      : await treesOnChanges(trip, patches, work);
  const isSame = patches.every(({ commit }, index) => commit.tree === trees[index]);
  return isSame && trees.length === patches.length;
}

/** Applies them to the index of the base: its files are so few that this is done soonest. */
async function treesOnWhole(trip: RoundTrip, work: string): Promise<readonly string[]> {
  copyFileSync(trip.baseIndex, join(work, "index"));
  return printedTrees(trip, work);
}

/**
 * Applies them to an index of nothing but the paths that change, so that how large the repository is does not matter, and
 * puts what each of them changes there on the base's tree.
 */
async function treesOnChanges(
  trip: RoundTrip,
  patches: readonly PatchFile[],
  work: string,
): Promise<readonly string[]> {
  const trees = [
    await treeOf(trip.own.git, trip.base),
    ...patches.map(({ commit }) => commit.tree),
  ];
  const meant = await changesBetween(trip.own.git, trees);
  writeFileSync(join(work, "info"), indexInfo(meant));
  const got = await printedTrees(trip, work);
  if (got.length !== trees.length) return [];
  return wholeTrees(trip, await changesBetween(trip.check.git, got));
}

async function printedTrees({ check }: RoundTrip, work: string): Promise<readonly string[]> {
  const through = ["/bin/sh", "-c", SCRIPT, "sh"] as const;
  const call = { through, cwd: work, indexFile: join(work, "index") };
  return (await mustText(check.git, [], call).catch(() => "")).split("\n");
}

/** The base's tree with what each step changes: by git-fast-import(1), which reads only the trees on the way to it. */
async function wholeTrees(
  { check, base }: RoundTrip,
  steps: readonly Step[],
): Promise<readonly string[]> {
  const commits = steps.map((step, index) => {
    const from = index === 0 ? `from ${base}\n` : "";
    const head =
      "commit refs/heads/check\ncommitter guardloop <guardloop@localhost> 0 +0000\ndata 0\n";
    return `${head}${from}${fileCommands(step)}ls ""\n\n`;
  });
  const options = words("fast-import --quiet --force --date-format=raw");
  const stdin = Buffer.from(commits.join(""), "latin1");
  const imported = await check.git(options, { stdin });
  if (imported.code !== 0) return [];
  return [...imported.stdout.toString("latin1").matchAll(/^040000 tree ([0-9a-f]+)\t/gm)].map(
    ([, tree = ""]) => tree,
  );
}

/** What goes comes first: a file can take the place of a directory. */
function fileCommands(step: Step): string {
  const gone: string[] = [];
  const there: string[] = [];
  for (let at = 0; at + 1 < step.length; at += 2) {
    const [, mode = "", , id = ""] = (step[at] ?? "").split(" ");
    const path = (step[at + 1] ?? "")
      .replaceAll(/["\\]/g, String.raw`\$&`)
      .replaceAll("\n", String.raw`\n`);
    if (mode === NO_MODE) gone.push(`D "${path}"\n`);
    else there.push(`M ${mode} ${id} "${path}"\n`);
  }
  return [...gone, ...there].join("");
}

/** Fields of raw differences, without and with a path in turn, for each tree but the first. */
type Step = readonly string[];

async function changesBetween(git: Git, trees: readonly string[]): Promise<readonly Step[]> {
  const steps = trees.slice(1).map((tree, index) => `${trees[index]} ${tree}\n`);
  const diff = words(
    "diff-tree --stdin -r -z --raw --no-renames --no-abbrev --ignore-submodules=none",
  );
  const output = await must(git, [...diff, "--no-ext-diff", "--no-textconv"], {
    stdin: steps.join(""),
    maxOutputBytes: MAX_CHANGES_BYTES,
  });
  return parseSteps(output.toString("latin1"));
}

/** A line names the trees of a step; it ends with a line feed also under -z. */
function parseSteps(text: string): readonly Step[] {
  const steps: string[][] = [];
  for (let at = 0; at < text.length;) {
    const isEntry = text[at] === ":";
    const end = isEntry ? text.indexOf("\0", text.indexOf("\0", at) + 1) : text.indexOf("\n", at);
    if (end === -1) break;
    if (isEntry) steps.at(-1)?.push(...text.slice(at, end).split("\0"));
    else steps.push([]);
    at = end + 1;
  }
  return steps;
}

/** What the index holds at first: of every path that changes what was there before its first change. */
function indexInfo(steps: readonly Step[]): Buffer {
  const rows = new Map<string, string>();
  for (const step of steps)
    for (let at = 0; at + 1 < step.length; at += 2) {
      const [mode = "", , id = ""] = (step[at] ?? "").slice(1).split(" ");
      const path = step[at + 1] ?? "";
      if (!rows.has(path)) rows.set(path, mode === NO_MODE ? "" : `${mode} ${id}\t${path}\0`);
    }
  return Buffer.from([...rows.values()].join(""), "latin1");
}

function prepare(work: string, mails: readonly string[]): void {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(join(work, "in"), { recursive: true });
  mkdirSync(join(work, "split"));
  for (const [index, mail] of mails.entries())
    symlinkSync(mail, join(work, "in", String(index + 1).padStart(4, "0")));
}

/** Undefined where there is no such file. */
function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
