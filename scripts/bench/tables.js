// Results as Markdown: what stands on the terminal and in docs/performance.md.
import { machineText } from "./machine.js";

/** @returns the sections by the name of their part. */
export function sectionsOf({ machine, parts }) {
  const from = `Measured on: ${machineText(machine)}.`;
  return Object.fromEntries(
    Object.entries(parts)
      .filter(([, result]) => result !== null)
      .map(([name, result]) => [name, `${from}\n\n${TEXTS[name](result)}`]),
  );
}

const TEXTS = { iteration, import: importing, parallel, startup, memory, history, gateway };

function iteration({ repetitions, cases }) {
  const sums = table(
    [
      "repository",
      "guardloop",
      "raw",
      "ratio",
      "over the raw container",
      "processor: guardloop",
      "raw",
      "first run",
      "afterwards",
    ],
    cases.map((one) => [
      nameOf(one),
      seconds(one.guarded.total),
      seconds(one.raw.total),
      one.ratio.toFixed(2),
      seconds(one.overRawContainer),
      seconds(one.guarded.cpu),
      seconds(one.raw.cpu),
      seconds(one.guarded.cold),
      seconds(one.guarded.afterwards),
    ]),
  );
  const used = table(
    [
      "repository",
      "programs started",
      "engine calls",
      "memory: runner",
      "with its children",
      "raw",
      "disk while it runs",
      "after",
      "raw while it runs",
    ],
    cases.map(({ guarded, raw, ...one }) => [
      nameOf(one),
      String(guarded.started),
      String(guarded.engineCalls),
      mebibytes(guarded.runnerKib),
      mebibytes(guarded.treeKib),
      mebibytes(raw.treeKib),
      mebibytes(guarded.diskDuringKib),
      mebibytes(guarded.diskAfterKib),
      mebibytes(raw.diskDuringKib),
    ]),
  );
  return [
    `Medians of ${repetitions}, in turn, after one that warms up; seconds.`,
    sums,
    "Seconds of a guarded iteration by stage; `start` is what comes before the run's first stage, `end` what comes after its last:",
    stages(cases, "guarded"),
    "Seconds of the raw commands:",
    stages(cases, "raw"),
    "One more iteration of each, not for its time:",
    used,
  ].join("\n\n");
}

function stages(cases, side) {
  const names = [...new Set(cases.flatMap((one) => Object.keys(one[side].stages)))];
  const rows = cases.map((one) => [
    nameOf(one),
    ...names.map((name) => cell(one[side].stages[name])),
  ]);
  return table(["repository", ...names], rows);
}

function cell(value) {
  return value === undefined ? "-" : seconds(value);
}

const BESIDE = { plain: "", ignored: ", `node_modules`", overlay: ", `node_modules` let in" };

function nameOf({ files, commits, variant }) {
  return `${grouped(files)} files, ${grouped(commits)} commits${BESIDE[variant]}`;
}

function importing({ series, files, repetitions, guarded, am, ratio }) {
  return `A series of ${grouped(series)} commits into a repository of ${grouped(files)} files, medians of ${repetitions}, in turn:\n\n${table(
    ["guardloop's import", "`git am` in a working tree", "ratio"],
    [[`${seconds(guarded)} s`, `${seconds(am)} s`, ratio.toFixed(2)]],
  )}`;
}

function parallel({ runs, files, repetitions, waitsSeconds, atOnce, inTurn, ratio }) {
  return `${runs} runs in a repository of ${grouped(files)} files, medians of ${repetitions}, in turn; the agent waits ${waitsSeconds} seconds, as for a model:\n\n${table(
    ["one after another", "at once", "times as fast"],
    [[`${seconds(inTurn)} s`, `${seconds(atOnce)} s`, ratio.toFixed(1)]],
  )}`;
}

function startup({ repetitions, commands }) {
  return `Medians of ${repetitions}, in turn:\n\n${table(
    ["command", "median", "least", "over bare Node"],
    commands.map((one) => [
      `\`${one.command}\``,
      `${one.ms} ms`,
      `${one.least} ms`,
      `${one.overNodeMs} ms`,
    ]),
  )}`;
}

function memory({ printed }) {
  return table(
    ["the agent printed", "memory of the runner at most", "seconds in the container"],
    printed.map((one) => [`${one.megabytes} MB`, `${one.peakMib} MiB`, seconds(one.agentSeconds)]),
  );
}

function history({ runs, databaseMib, repetitions, commands }) {
  return `${grouped(runs)} runs, a database of ${databaseMib} MiB, medians of ${repetitions}, in turn:\n\n${table(
    ["command", "one run", "all runs", "ratio"],
    commands.map((one) => [
      `\`${one.command}\``,
      `${Math.round(one.one * 1000)} ms`,
      `${Math.round(one.all * 1000)} ms`,
      one.ratio.toFixed(1),
    ]),
  )}`;
}

function gateway({ printed }) {
  return printed;
}

/** With its columns in line, as the formatter leaves them. */
function table(heads, rows) {
  const widths = heads.map((head, index) =>
    Math.max(3, head.length, ...rows.map((row) => row[index].length)),
  );
  const line = (cells) =>
    `| ${cells.map((text, index) => text.padEnd(widths[index])).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(heads), rule, ...rows.map(line)].join("\n");
}

function seconds(value) {
  return value.toFixed(2);
}

function mebibytes(kib) {
  if (kib === null) return "-";
  const value = kib / 1024;
  return `${value < 10 ? value.toFixed(1) : grouped(Math.round(value))} MiB`;
}

/** 50000 as 50,000, whatever the locale. */
function grouped(value) {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
