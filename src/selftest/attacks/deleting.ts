import { EXIT, exitStatusOf } from "../../core/failures.ts";
import { shellWord } from "../../config/shell-word.ts";
import { IN_CONTAINER } from "../../run/paths.ts";
import { type Attack, failed, held } from "../attack.ts";
import { nodeProgram, scripted } from "./shell.ts";

/** Where something may be mounted for writing: the run's own directories, and what every container has. */
const OWN_MOUNTS =
  "^(/|/workspace|/tmp|/guardloop/(artifacts|home)|/(dev|proc|sys)(/.*)?|/etc/(hosts|hostname|resolv[.]conf))$";

/**
 * This one attack would do harm where the boundary is missing, so it is tried only where nothing of the host's is in
 * reach. Looked at right before, in the same container; each of these alone keeps it from happening.
 */
const whyNot = `
const { existsSync, readFileSync } = require("fs");
const refuse = (why) => { console.log(why + ", and deleting would hit the host"); process.exit(1); };
const { PWD, HOME } = process.env;
if (PWD !== "${IN_CONTAINER.workspace}" || HOME !== "${IN_CONTAINER.home}")
  refuse("this is no container of its own");
const first = readFileSync("/proc/1/cmdline", "latin1").split("\\0");
if (!first.includes("${IN_CONTAINER.guest}")) refuse("process 1 is not the container's own");
if (existsSync(process.argv[1])) refuse("files of the host are in reach");
const mounts = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\\n").map((line) => line.split(" "));
const strange = mounts.find(([, , , , target, options]) =>
  options.split(",").includes("rw") && !new RegExp("${OWN_MOUNTS}").test(target));
if (strange !== undefined) refuse(strange[4] + " is mounted for writing");`;

/** Deletes everything it can reach. */
export const deleting: Attack = {
  name: "delete-everything",
  tries: "runs rm -rf on /, its home, the workspace and everything of guardloop's",
  agent: {
    script: ({ secretFile }) =>
      scripted(`need rm
why=$(${nodeProgram(whyNot)} ${shellWord(secretFile)}) || skip "\${why:-where it is cannot be told}"
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
