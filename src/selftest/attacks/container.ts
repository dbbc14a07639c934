import { LIMITS_OF_USE } from "./limits-of-use.ts";
import { POSTURE_ATTACKS } from "./posture-attacks.ts";
import { EXIT, exitStatusOf } from "../../core/failures.ts";
import { shellWord } from "../../config/shell-word.ts";
import { IN_CONTAINER } from "../../run/paths.ts";
import { type Attack, failed, held } from "../attack.ts";
import { nodeProgram, scripted } from "./shell.ts";

/** Deleting is tried only where nothing of the host's is in reach: each of these alone shows that it is not. */
const inOwnContainer = (secretFile: string): string => `
[ "$PWD" = ${IN_CONTAINER.workspace} ] && [ "$HOME" = ${IN_CONTAINER.home} ] || skip "this is no container of its own, and deleting would hit the host"
[ ! -e ${shellWord(secretFile)} ] || skip "files of the host are in reach, and deleting would hit them"
${nodeProgram(`
const { readFileSync } = require("fs");
const first = readFileSync("/proc/1/cmdline", "latin1").split("\\0");
process.exit(first.includes("${IN_CONTAINER.guest}") ? 0 : 1);`)} || skip "process 1 is not the container's own, and deleting would hit the host"`;

const deleting: Attack = {
  name: "delete-everything",
  tries: "runs rm -rf on /, its home, the workspace and everything of guardloop's",
  agent: {
    script: ({ secretFile }) =>
      scripted(`need rm
${inOwnContainer(secretFile)}
rm -rf /* ~ .[!.]* ${IN_CONTAINER.workspace} /guardloop 2>/dev/null || true`),
  },
  // The checkout is compared after every run; here only the way it ended is left to say.
  expect: ({ ended }) => {
    if (ended.ok) return held("nothing outside was hit; the deletions came back as a branch");
    const { code, message } = ended.error;
    return exitStatusOf(code) === EXIT.resultRefused
      ? held(`nothing outside was hit; the result was refused: ${message}`)
      : failed(`the run ended with ${code}: ${message}`);
  },
};

const endless: Attack = {
  name: "endless",
  tries: "never ends, and ignores the polite signal",
  agent: {
    script: () => scripted(`trap '' TERM INT HUP\nwhile :; do :; done`),
    bounds: { wallMs: 2_000 },
  },
  expect: ({ ended }) =>
    !ended.ok && ended.error.code === "agent-wall-limit"
      ? held(ended.error.message)
      : failed(`the run ended with ${ended.ok ? "a branch" : ended.error.code}`),
};

/** What an agent can do from inside of its container. */
export const CONTAINER_ATTACKS: readonly Attack[] = [
  ...POSTURE_ATTACKS,
  ...LIMITS_OF_USE,
  endless,
  deleting,
];
