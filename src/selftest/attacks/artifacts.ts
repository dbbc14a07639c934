import type { FailureCode } from "../../core/failures.ts";
import { readdir } from "node:fs/promises";
import { shellWord } from "../../config/shell-word.ts";
import { runPaths } from "../../run/paths.ts";
import type { Attack } from "../attack.ts";
import { isImported, isRefused } from "../expect.ts";
import type { Place } from "../place.ts";
import { nodeProgram, scripted } from "./shell.ts";

const TASK_ID = '"$GUARDLOOP_ARTIFACTS/selected-task-id.txt"';
const MESSAGE = '"$GUARDLOOP_ARTIFACTS/last-commit-message.txt"';
const MANY_FILES = 5_000;

/** An artifact that must be refused by name: whatever the agent left, the guest exports and the host judges. */
function refused(
  [name, tries]: readonly [name: string, tries: string],
  script: string | ((place: Place) => string),
  [code, says]: readonly [code: FailureCode, says: RegExp],
): Attack {
  return {
    name,
    tries,
    agent: {
      script: (place) => scripted(typeof script === "string" ? script : script(place)),
    },
    expect: isRefused([code], says),
  };
}

const inPlaceOfFiles: readonly Attack[] = [
  refused(
    ["task-id-link", "leaves a link to a file of the host's as selected-task-id.txt"],
    ({ secretFile }) => `need rm ln; rm ${TASK_ID}; ln -s ${shellWord(secretFile)} ${TASK_ID}`,
    ["bad-task-id", /selected-task-id\.txt is not a regular file/],
  ),
  refused(
    ["message-link", "leaves a link to a file of the host's as last-commit-message.txt"],
    ({ secretFile }) => `need rm ln; rm ${MESSAGE}; ln -s ${shellWord(secretFile)} ${MESSAGE}`,
    ["bad-commit-message", /last-commit-message\.txt is not a regular file/],
  ),
  refused(
    ["task-id-fifo", "leaves a pipe that nobody writes to as selected-task-id.txt"],
    `need rm mkfifo; rm ${TASK_ID}; mkfifo ${TASK_ID}`,
    ["bad-task-id", /selected-task-id\.txt is not a regular file/],
  ),
  refused(
    ["message-directory", "leaves a directory as last-commit-message.txt"],
    `need rm mkdir; rm ${MESSAGE}; mkdir ${MESSAGE}`,
    ["bad-commit-message", /last-commit-message\.txt is not a regular file/],
  ),
  refused(
    ["task-id-hard-link", "leaves a file with a second name as selected-task-id.txt"],
    `need ln; ln ${TASK_ID} "$GUARDLOOP_ARTIFACTS/second-name"`,
    ["bad-task-id", /selected-task-id\.txt has more than one hard link/],
  ),
  refused(
    ["message-sparse", "leaves a file that claims a terabyte as last-commit-message.txt"],
    `${nodeProgram('require("fs").truncateSync(process.argv[1], 2 ** 40)')} ${MESSAGE} || skip "the file system of the state directory takes no file of 1 TiB"`,
    ["bad-commit-message", /last-commit-message\.txt is larger than \d+ bytes/],
  ),
];

const hostileText: readonly Attack[] = [
  refused(["task-id-path", "names a path as its task"], `echo ../../T1 > ${TASK_ID}`, [
    "bad-task-id",
    /selected-task-id\.txt says/,
  ]),
  refused(
    ["task-id-not-utf8", "names a task in bytes that are no text"],
    `printf '\\377\\376' > ${TASK_ID}`,
    ["bad-task-id", /bytes that are not UTF-8/],
  ),
  refused(
    ["message-nul", "leaves a NUL byte in last-commit-message.txt"],
    `printf 'Do\\000 T1' > ${MESSAGE}`,
    ["bad-commit-message", /NUL byte/],
  ),
];

const missing: readonly Attack[] = [
  refused(["task-id-missing", "does not say which task it did"], `need rm; rm ${TASK_ID}`, [
    "missing-task-id",
    /did not leave selected-task-id\.txt/,
  ]),
  refused(["message-missing", "leaves no commit message"], `need rm; rm ${MESSAGE}`, [
    "missing-commit-message",
    /did not leave last-commit-message\.txt/,
  ]),
];

/** What is not an artifact is not looked at, and what the guest writes it writes anew. */
const besides: Attack = {
  name: "artifacts-besides",
  tries: `leaves ${MANY_FILES} files, names that are no text, and links in the place of patches and manifest`,
  agent: {
    script: ({ root, secretFile }) =>
      scripted(`
need ln
ln -s ${shellWord(root)} "$GUARDLOOP_ARTIFACTS/patches"
ln -s ${shellWord(secretFile)} "$GUARDLOOP_ARTIFACTS/manifest.json"
ln -s ${shellWord(secretFile)} "$GUARDLOOP_ARTIFACTS/more.txt"
${nodeProgram(`
const { writeFileSync } = require("fs");
const at = Buffer.from(process.env.GUARDLOOP_ARTIFACTS + "/");
for (let i = 0; i < ${MANY_FILES}; i += 1) writeFileSync(Buffer.concat([at, Buffer.from("x" + i)]), "");
writeFileSync(Buffer.concat([at, Buffer.from([0xff, 0x0a, 0x1b])]), "");`)}`),
  },
  expect: isImported(async ({ runId }, { place }) => {
    const saved = await readdir(runPaths(place.stateDir, runId).artifacts);
    const agreed = "last-commit-message.txt manifest.json patches selected-task-id.txt";
    return saved.toSorted().join(" ") === agreed
      ? undefined
      : `the record holds ${saved.slice(0, 6).join(", ")}`;
  }, "imported without them"),
};

/** What an agent can leave in its artifacts directory. */
export const ARTIFACT_ATTACKS: readonly Attack[] = [
  ...inPlaceOfFiles,
  ...hostileText,
  ...missing,
  besides,
];
