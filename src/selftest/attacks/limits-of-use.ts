import { readFile, readdir } from "node:fs/promises";
import { type Attack, type AttackAgent, type Seen, failed, held } from "../attack.ts";
import { nodeProgram, scripted } from "./shell.ts";

// Every attack here is bounded by itself: where a limit is missing, the host bears what is tried.

const MIB = 1024 ** 2;
const MOST_MEMORY_MIB = 256;
const MOST_PIDS = 64;
const MOST_TMP_MIB = 16;
/** Beyond the limit, and no more. */
const PROCESSES = 2 * MOST_PIDS;
const LEFT_BEHIND_SECONDS = 20;

/** The number that a script printed after a word; undefined when it did not get that far. */
function said(log: string, word: string): number | undefined {
  const match = new RegExp(`^${word}=(\\d+)`, "m").exec(log);
  return match === null ? undefined : Number(match[1]);
}

/** Takes memory in a child of its own, so that the shell can tell how that ended. */
const hog: AttackAgent = {
  bounds: { memoryBytes: MOST_MEMORY_MIB * MIB },
  script: () =>
    scripted(`
status=0
${nodeProgram(`
const all = [];
for (let mib = 16; mib <= ${2 * MOST_MEMORY_MIB}; mib += 16) all.push(Buffer.alloc(16 * 1024 ** 2, 1));
console.log("hog-took=" + all.length * 16);`)} || status=$?
echo "hog-status=$status"`),
};

function judgeHog({ ended, log, spec }: Seen) {
  const limit = spec.container.memoryBytes / MIB;
  const took = said(log, "hog-took");
  if (took !== undefined && took > limit)
    return failed(`it took ${took} MiB under a limit of ${limit} MiB`);
  if (!ended.ok)
    return ["agent-out-of-memory", "agent-killed"].includes(ended.error.code)
      ? held(ended.error.message)
      : failed(`the run ended with ${ended.error.code}: ${ended.error.message}`);
  const status = said(log, "hog-status");
  return status === undefined || status === 0
    ? failed("it was not ended")
    : held(`ended with status ${status} at ${limit} MiB; the run went on`);
}

/** Starts processes up to a number; the program ends when all of them have. */
const FORKS = `
const { spawn } = require("child_process");
const children = [];
for (let i = 0; i < ${PROCESSES}; i += 1) {
  try {
    const child = spawn("sh", ["-c", "read line"], { stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => {});
    child.stdin?.on("error", () => {});
    if (child.pid !== undefined) children.push(child);
  } catch {}
}
console.log("processes=" + children.length);
for (const child of children) child.kill("SIGKILL");`;

const FILL = `
const { rmSync, openSync, writeSync } = require("fs");
const path = process.env.TMPDIR + "/full";
let mib = 0;
try {
  const file = openSync(path, "w");
  for (; mib < ${2 * MOST_TMP_MIB}; mib += 1) writeSync(file, Buffer.alloc(1024 ** 2, 1));
} catch (error) { console.log("tmp-error=" + error.code); }
console.log("tmp-mib=" + mib);
rmSync(path, { force: true });`;

const leaving = (mark: string): string => `
const argv = ["-e", "setTimeout(() => {}, ${LEFT_BEHIND_SECONDS * 1000})", "${mark}"];
require("child_process").spawn(process.execPath, argv, { detached: true, stdio: "ignore" }).unref();
console.log("left-behind=1");`;

/** Takes more of everything than it may, one after another. */
const greedy: AttackAgent = {
  bounds: { pids: MOST_PIDS, tmpBytes: MOST_TMP_MIB * MIB },
  script: ({ processMark }) =>
    scripted([FORKS, FILL, leaving(processMark)].map((source) => nodeProgram(source)).join("\n")),
};

function judgeForks({ log, spec }: Seen) {
  const started = said(log, "processes");
  if (started === undefined) return failed("it did not get so far");
  const limit = spec.container.pids;
  return started < limit
    ? held(`${started} started under a limit of ${limit}, then no more`)
    : failed(`${started} started under a limit of ${limit}`);
}

function judgeTmp({ log, spec }: Seen) {
  const written = said(log, "tmp-mib");
  if (written === undefined) return failed("it did not get so far");
  const limit = spec.container.tmpBytes / MIB;
  return written <= limit && log.includes("tmp-error=ENOSPC")
    ? held(`full after ${written} MiB`)
    : failed(`${written} MiB were written under a limit of ${limit} MiB`);
}

async function judgeLeftBehind({ log, place }: Seen) {
  if (said(log, "left-behind") === undefined) return failed("it did not get so far");
  const alive = await processesWith(place.processMark);
  return alive.length === 0 ? held("ended with the run") : failed(`process ${alive[0]} lives on`);
}

/** Processes of this host that have the mark as an argument; the script that starts one has it inside of a longer one. */
async function processesWith(mark: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found: string[] = [];
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "");
    if (text.split("\0").includes(mark)) found.push(pid);
  }
  return found;
}

/** What an agent can use up. */
export const LIMITS_OF_USE: readonly Attack[] = [
  {
    name: "memory-hog",
    tries: "takes more memory than it may",
    agent: hog,
    expect: judgeHog,
  },
  {
    name: "fork-bomb",
    tries: "starts more processes than it may",
    agent: greedy,
    expect: judgeForks,
  },
  {
    name: "full-tmp",
    tries: "writes more into /tmp than fits",
    agent: greedy,
    expect: judgeTmp,
  },
  {
    name: "left-behind",
    tries: "leaves a process that would outlive the run",
    agent: greedy,
    expect: judgeLeftBehind,
  },
];
