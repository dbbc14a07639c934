#!/usr/bin/env node
// Usage: npm run bench -- [--only PART,...] [--sizes 50,5000,50000] [--commits N] [--repo PATH] [--variants plain,ignored]
//                         [--repetitions N] [--engine docker|podman] [--json FILE] [--no-write]
//
// Measures what guardloop costs, part by part: iteration, import, parallel, startup, memory, history, gateway. Prints
// tables, and writes those of the parts that ran into docs/performance.md, which explains them. Needs an engine and the
// image guardloop-agent. Works in a temporary directory and removes it, also on Ctrl-C.
//
//   --sizes, --repo   files of the repositories that are made, or one of yours, which is copied and not touched
//   --variants        plain; ignored: with an ignored node_modules of 50,000 files; overlay: with one that is let in
//   --series          commits of the import; --runs: runs of the history
//
// Exit status: 0 done; 1 something could not be measured; 2 a wrong option; 130 interrupted.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gateway } from "./gateway.js";
import { historyPlace, ofManyRuns } from "./history.js";
import { importing } from "./import.js";
import { iteration } from "./iteration.js";
import { describeMachine } from "./machine.js";
import { memory } from "./memory.js";
import { parallel } from "./parallel.js";
import { ROOT, makePlace } from "./place.js";
import { startup } from "./startup.js";
import { sectionsOf } from "./tables.js";

const DOCUMENT = join(ROOT, "docs/performance.md");
const IMAGE = "guardloop-agent";
const NAMES = ["iteration", "import", "parallel", "startup", "memory", "history", "gateway"];

const options = read();
const places = [];
// However it ends, an error of its own included.
process.on("exit", () => {
  for (const place of places) place.remove();
});
// A closed pipe (`| head`) must not end it before it has cleaned up.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.exit(1));
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    say("interrupted; cleaning up");
    process.exit(130);
  });

refuse(reasonAgainst(options), 1);
const machine = describeMachine(options.engine);
const parts = {};
try {
  for (const name of options.only) parts[name] = await measure(name);
} catch (error) {
  process.stderr.write(`bench: ${error.stack}\n`);
  process.exitCode = 1;
}
const result = { version: 1, machine, parts };
const sections = sectionsOf(result);
for (const [name, text] of Object.entries(sections))
  process.stdout.write(`\n## ${name}\n\n${text}\n`);
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
if (options.write) writeDocument(sections);

/** Each part in a place of its own, which goes when the part is done. */
async function measure(name) {
  say(`${name} begins`);
  const { engine, sizes, repetitions } = options;
  const place = name === "history" ? historyPlace({ engine }) : makePlace({ engine });
  places.push(place);
  const middle = sizes.find((size) => size >= 5000) ?? sizes[0];
  const given = { ...options, say };
  const work = {
    iteration: () => iteration(place, given),
    import: () =>
      importing(place, { ...given, files: middle, repetitions: Math.min(3, repetitions) }),
    parallel: () =>
      parallel(place, { ...given, runs: 8, files: middle, repetitions: Math.min(3, repetitions) }),
    startup: () => startup(place, { ...given, repetitions: 3 * repetitions }),
    memory: () => memory(place, { ...given, megabytes: [50, 500, 1500] }),
    history: () => ofManyRuns(place, { ...given, runs: options.runs }),
    gateway: () => gateway(place),
  };
  try {
    return await work[name]();
  } finally {
    place.remove();
  }
}

function read() {
  const text = (fallback) => ({ type: "string", default: fallback });
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        only: text(NAMES.join(",")),
        sizes: text("50,5000,50000"),
        commits: { type: "string" },
        repo: { type: "string" },
        variants: text("plain,ignored"),
        repetitions: text("5"),
        series: text("1000"),
        runs: text("10000"),
        engine: text("docker"),
        json: { type: "string" },
        "no-write": { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    refuse(error.message, 2);
  }
  const only = among("only", values.only, NAMES);
  return {
    only,
    sizes: values.sizes.split(",").map((size) => number("sizes", size, 10)),
    ...(values.commits === undefined ? {} : { commits: number("commits", values.commits, 1) }),
    ...(values.repo === undefined ? {} : { repo: resolve(values.repo) }),
    variants: among("variants", values.variants, ["plain", "ignored", "overlay"]),
    repetitions: number("repetitions", values.repetitions, 1),
    series: number("series", values.series, 1),
    runs: number("runs", values.runs, 1),
    engine: among("engine", values.engine, ["docker", "podman"])[0],
    json: values.json,
    write: !values["no-write"],
  };
}

function among(name, value, possible) {
  const given = value.split(",");
  const wrong = given.find((one) => !possible.includes(one));
  if (wrong !== undefined) refuse(`--${name}: "${wrong}" is none of ${possible.join(", ")}.`, 2);
  return given;
}

function number(name, value, least) {
  if (!/^\d{1,9}$/.test(value) || Number(value) < least)
    refuse(`--${name}: "${value}" is not a number from ${least} on.`, 2);
  return Number(value);
}

/** One sentence, or undefined when everything that is needed is there. */
function reasonAgainst({ engine, only, repo }) {
  if (!existsSync(join(ROOT, "dist/cli/main.js")))
    return "guardloop is not built: run `npm run build`.";
  if (repo !== undefined && spawnSync("git", ["-C", repo, "rev-parse", "HEAD"]).status !== 0)
    return `${repo} is not a Git repository with a commit.`;
  if (only.every((name) => name === "history" || name === "gateway")) return undefined;
  const version = spawnSync(engine, ["version"], { encoding: "utf8" });
  if (version.error !== undefined) return `${engine} is not on PATH: install it, or pass --engine.`;
  if (version.status !== 0)
    return `${engine} does not answer: start it, then run the benchmark again.`;
  if (spawnSync(engine, ["image", "inspect", IMAGE]).status !== 0)
    return `${engine} has no image ${IMAGE}: run \`guardloop image build\`.`;
  return undefined;
}

function refuse(reason, status) {
  if (reason === undefined) return;
  process.stderr.write(`bench: ${reason}\n`);
  process.exit(status);
}

/** Only what stands between a part's markers is replaced. */
function writeDocument(all) {
  let document = readFileSync(DOCUMENT, "utf8");
  for (const [name, text] of Object.entries(all)) {
    const between = new RegExp(`(<!-- bench ${name} -->\n)[^]*?(<!-- end -->)`);
    document = document.replace(between, (_, from, to) => `${from}\n${text}\n\n${to}`);
  }
  writeFileSync(DOCUMENT, document);
}

function say(text) {
  process.stderr.write(`bench: ${text}\n`);
}
