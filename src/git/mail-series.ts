import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Failure } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import { removeTree } from "../files/remove-tree.ts";
import type { NarrowIndex } from "./narrow-index.ts";
import type { Quarantine } from "./quarantine.ts";
import { type ChangedEntry, changesOfSteps, pathBytes } from "./tree-check.ts";

/**
 * What `applyMail` does with one mail, done with one after another in one shell: to start a program takes longer than a
 * small patch. A constant: Git's own argv comes as positional parameters, and files have names of ours. `mailsplit` says
 * of all together that they are as many mails as files, and finds at least one in each. Prints the tree before the first
 * mail and after each, and ends where anything is not as it should be.
 */
const SCRIPT = `
"$@" update-index -z --index-info <info || exit
"$@" write-tree || exit
found=$("$@" mailsplit -d4 --keep-cr -osplit -- in/*) || exit
files=0
for mail in in/*; do files=$((files + 1)); done
test "$found" = "$files" || exit
for mail in in/*; do
  "$@" mailinfo -k --no-scissors --quoted-cr=nowarn --encoding=UTF-8 message diff \\
    <"$mail" >/dev/null || exit
  "$@" apply --cached --whitespace=nowarn --allow-empty -- diff || exit
  "$@" write-tree || exit
done
`;

const TREE = /^[0-9a-f]{40}$/;

/**
 * Applies mails to a narrow index, as many of them as it can, within one deadline for all. Where it ends early nobody is
 * told why: `applyMail` with an index of everything decides about that mail, and has the words.
 *
 * @param mails absolute paths of the files, at least one and fewer than ten thousand.
 * @returns what each of the first mails changes; fewer than there are mails, or none.
 */
export async function applyMails(
  quarantine: Quarantine,
  mails: readonly string[],
  narrow: NarrowIndex,
): Promise<Result<readonly (readonly ChangedEntry[])[], Failure>> {
  const directory = join(quarantine.dir, "series");
  await removeTree(directory);
  await mkdir(join(directory, "in"), { recursive: true, mode: 0o700 });
  await mkdir(join(directory, "split"), { mode: 0o700 });
  await writeFile(join(directory, "info"), narrow.info);
  for (const [index, mail] of mails.entries())
    await symlink(mail, join(directory, "in", String(index + 1).padStart(4, "0")));
  const exit = await quarantine.git.exec([], {
    through: ["/bin/sh", "-c", SCRIPT, "sh"],
    cwd: directory,
    indexFile: join(directory, "index"),
    deadlineMs: DEADLINES.gitQuickMs,
  });
  const trees = exit.stdout.toString("latin1").split("\n").slice(0, -1);
  if (!trees.every((tree) => TREE.test(tree))) return ok([]);
  const steps = trees.slice(1).map((to, index) => ({ from: trees[index] ?? "", to }));
  const changes = await changesOfSteps(quarantine.git, steps);
  if (!changes.ok) return changes;
  // What was not looked up may be there already: the index of everything knows.
  const unknown = changes.value.findIndex((entries) =>
    entries.some((entry) => !narrow.paths.has(pathBytes(entry))),
  );
  return ok(unknown === -1 ? changes.value : changes.value.slice(0, unknown));
}
