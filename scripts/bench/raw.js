// The raw commands, without a guard.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RAW_AGENT } from "./agents.js";
import { CPU, cpuOf } from "./guarded.js";
import { must } from "./place.js";
import { watchTree } from "./watch.js";

const SCRIPT = fileURLToPath(new URL("raw.sh", import.meta.url));
/** Given to the clone only because the container's user is not root; who is not root does not need it. */
const NOT_COUNTED = new Set(["chown"]);

/**
 * The arguments of a container with the posture that guardloop itself used, as its record has them, but with a shell for
 * the guest and two directories for the mounts.
 *
 * @param {string} record directory of a run that has ended
 */
export function rawArguments(place, record) {
  const { argv } = JSON.parse(readFileSync(join(record, "container.json"), "utf8"));
  const image = argv.findIndex(
    (word, index) => index > 2 && !word.startsWith("-") && !isValue(argv[index - 1]),
  );
  const kept = argv
    .slice(0, image)
    .filter((word) => !/^--(?:name|label|mount|volume|env|workdir|entrypoint)=/.test(word));
  return [
    ...kept,
    `--label=${place.label}`,
    "--mount=type=bind,source=@SNAPSHOT@,target=/workspace",
    "--mount=type=bind,source=@OUT@,target=/out",
    "--env=HOME=/guardloop/home",
    "--env=TMPDIR=/tmp",
    ...["AUTHOR", "COMMITTER"].flatMap((who) => [
      `--env=GIT_${who}_NAME=Bench`,
      `--env=GIT_${who}_EMAIL=bench@example.invalid`,
    ]),
    "--workdir=/workspace",
    "--entrypoint=sh",
    argv[image],
    "-c",
    RAW_AGENT,
  ];
}

/** The only option of guardloop's whose value is a word of its own. */
function isValue(before) {
  return before === "--network";
}

/** Seconds by command, and all of them together. */
export async function raw(place, { repo, engineArguments, modules, mode = "timed" }) {
  const work = join(place.root, "raw");
  const measure = mode === "watched" ? "du" : "-";
  const argv = ["bash", SCRIPT, repo, work, newOwner(engineArguments), modules ?? "-", measure];
  let tree;
  const ended = await must([...CPU, ...argv, ...engineArguments], {
    cwd: place.root,
    env: place.env,
    onStart(pid) {
      if (mode === "watched") tree = watchTree(pid);
    },
  });
  const stages = {};
  for (const [, name, microseconds] of ended.stdout.matchAll(/^stage (\S+) (\d+)$/gm))
    stages[name] = Number(microseconds) / 1e6;
  const counted = Object.entries(stages).filter(([name]) => !NOT_COUNTED.has(name));
  return {
    total: counted.reduce((sum, [, seconds]) => sum + seconds, 0),
    cpu: cpuOf(ended),
    stages,
    treeKib: tree?.end() ?? null,
    diskDuringKib: Number(/^disk (\d+)$/m.exec(ended.stdout)?.[1] ?? 0),
  };
}

/** Only root has to give the clone away. */
function newOwner(engineArguments) {
  const user = engineArguments.find((word) => word.startsWith("--user="))?.slice("--user=".length);
  const mayStay = user === undefined || user === `${process.getuid?.()}:${process.getgid?.()}`;
  return mayStay || process.getuid?.() !== 0 ? "-" : user;
}
