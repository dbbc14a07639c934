import { shellWord } from "../../config/shell-word.ts";
import { runPaths } from "../../run/paths.ts";
import type { Attack } from "../attack.ts";
import { importedFile, isImported } from "../expect.ts";
import { plantedPrograms } from "../planted-programs.ts";
import type { Place } from "../place.ts";
import { scripted } from "./shell.ts";

/** The work came back as it was; that nothing else did is looked at after every run. */
const workCameBack = isImported(
  async (run, seen) =>
    (await importedFile(run, seen, "work.txt")) === "work\n" ? undefined : "the work is not there",
  "the work alone came back",
);

/** Everything in the throwaway repository with which Git starts programs. */
const planted: Attack = {
  name: "planted-programs",
  tries: "plants a program in every hook, configuration key and attribute of its repository",
  agent: {
    script: ({ marker, stateDir }) => {
      // Where the host would find the program, if it looked.
      const { workspace } = runPaths(stateDir, "$GUARDLOOP_RUN_ID");
      return scripted(`need mkdir cp chmod cat
EVIL="${workspace}/.git/evil"
${plantedPrograms({ marker, evil: "$EVIL" })}`);
    },
  },
  expect: async (seen) => {
    if (seen.log.includes("MARKER-RAN"))
      return { verdict: "failed", seen: "the guest started one of them while exporting" };
    return workCameBack(seen);
  },
};

/** A repository that claims to be another one of the host's. */
function detour(
  [name, tries]: readonly [name: string, tries: string],
  script: (other: string, place: Place) => string,
): Attack {
  return {
    name,
    tries,
    agent: {
      script: (place) =>
        scripted(`need rm ln\n${script(shellWord(`${place.otherRepository}/.git`), place)}`),
    },
    expect: workCameBack,
  };
}

const detours: readonly Attack[] = [
  detour(
    ["git-file", "replaces .git by a file that points at another repository of the host's"],
    (other) => `rm -rf .git; echo "gitdir: "${other} > .git`,
  ),
  detour(
    ["git-link", "replaces .git by a link to another repository of the host's"],
    (other) => `rm -rf .git; ln -s ${other} .git`,
  ),
  detour(
    ["head-link", "replaces HEAD by a link to a branch of another repository"],
    (other) => `rm .git/HEAD; ln -s ${other}/refs/heads/main .git/HEAD`,
  ),
  detour(
    ["common-directory", "names another repository as the one this is a worktree of"],
    (other, { otherCommit }) => `echo ${other} > .git/commondir; echo ${otherCommit} > .git/HEAD`,
  ),
  detour(
    ["alternates", "names another repository's objects as its own"],
    (other, { otherCommit }) =>
      `echo ${other}/objects >> .git/objects/info/alternates; echo ${otherCommit} > .git/HEAD`,
  ),
  detour(
    ["objects-link", "replaces its objects by a link to another repository's"],
    (other, { otherCommit }) =>
      `rm -rf .git/objects; ln -s ${other}/objects .git/objects; echo ${otherCommit} > .git/HEAD`,
  ),
];

/** What an agent can make of the repository it works in. */
export const REPOSITORY_ATTACKS: readonly Attack[] = [planted, ...detours];
