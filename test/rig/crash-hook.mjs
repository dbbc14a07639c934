// Loaded into guardloop by `node --import`, so that the product has no crash points of its own. It sees every call that
// leaves a trace outside of the process: journal writes, changes of files, and programs that change something. It
// writes them down, or ends the process by SIGKILL, which nothing can catch, at one of them.
//
//   CRASH_RECORD  a file; the label of each effect is appended to it, a line each
//   CRASH_AT      `before LABEL#N` or `during LABEL#N`: the N-th effect of that label, counted from 1. `during` is for
//                 programs: the process dies right after it has started one, and the program goes on alone
//   CRASH_HOW     `kill` (default), or `stop`: the process gets SIGSTOP there, as on a machine that was suspended
//   CRASH_COPIES  a directory; before the N-th effect, counted from 0, the whole world is copied to its entry N, while
//                 the process stands still: what SIGKILL would leave there, where no program works at the time
//   CRASH_COPY_AT a regular expression; copies are made only before effects whose `LABEL#N` it matches
//   CRASH_ROOT    the world's directory, which labels leave out
//
// Node's own modules are patched, and the bindings of `import { rename } from "node:fs/promises"` with them. Programs
// that guardloop starts are not touched: it builds their environment.
import childProcess from "node:child_process";
import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";

const {
  CRASH_RECORD: record,
  CRASH_AT: at,
  CRASH_HOW: how = "kill",
  CRASH_COPIES: copies,
  CRASH_COPY_AT: copyAt = "",
  CRASH_ROOT: root,
} = process.env;
const counts = new Map();
let effects = 0;
const appendFileSync = fs.appendFileSync;
const execFileSync = childProcess.execFileSync;
const signal = process.kill.bind(process);

/** @returns whether the process has to end once the effect is under way. */
function effect(label) {
  const count = (counts.get(label) ?? 0) + 1;
  counts.set(label, count);
  const point = `${label}#${count}`;
  if (copies !== undefined && new RegExp(copyAt).test(point))
    execFileSync("cp", ["-a", root, `${copies}/${effects}`]);
  effects += 1;
  if (record !== undefined) appendFileSync(record, `${point}\n`);
  if (at === `before ${point}`) end();
  return at === `during ${point}`;
}

function end() {
  signal(process.pid, how === "stop" ? "SIGSTOP" : "SIGKILL");
}

/** What differs from one run to the next has no place in a label. */
function place(path) {
  return String(path)
    .replace(root ?? "", "")
    .replaceAll(/\d{6}-\d{6}-[a-z0-9]{5}/g, "RUN")
    .replaceAll(/\.returning-[^.]*/g, ".returning")
    .replaceAll(/[0-9a-f]{12,}/g, "ID")
    .replaceAll(new RegExp(`\\b${process.pid}(-[0-9a-f]{8})?\\b`, "g"), "PID")
    .replaceAll(/pack-ID\.\w+/g, "PACK");
}

// --- files ------------------------------------------------------------------------------------------------------

const FIRST = ["unlink", "rm", "rmdir", "mkdir", "writeFile", "appendFile", "truncate"];
const SECOND = ["rename", "link", "symlink", "copyFile"];
/** Of this world, and not the list that is being written. */
const isOutside = (path) =>
  root !== undefined && String(path).startsWith(root) && String(path) !== record;

function patch(owner, name, wrap) {
  const original = owner[name];
  owner[name] = function patched(...args) {
    return wrap(original.bind(this), args);
  };
}

/** @param index of the argument that says what is changed */
function watch(names, index) {
  for (const name of names) {
    const see = (call, args) => {
      if (isOutside(args[index])) effect(`${name} ${place(args[index])}`);
      return call(...args);
    };
    patch(fs.promises, name, see);
    patch(fs, `${name}Sync`, see);
  }
}
watch(FIRST, 0);
watch(SECOND, 1);

patch(fs.promises, "open", async (call, args) => {
  const [path, flags = "r"] = args;
  const writes = typeof flags === "string" && /^[wa]/.test(flags) && isOutside(path);
  if (writes) effect(`open ${place(path)}`);
  const handle = await call(...args);
  if (writes && !flags.startsWith("a"))
    patch(handle, "writeFile", (write, words) => {
      effect(`write ${place(path)}`);
      return write(...words);
    });
  return handle;
});

// --- programs -----------------------------------------------------------------------------------------------------

/** Commands that only look; everything else counts as a change. */
const LOOKS = {
  git: /^(rev-parse|cat-file|ls-files|ls-tree|status|for-each-ref|check-ref-format|diff\S*|log|config|merge-base|symbolic-ref|version|--version|show-ref|show|rev-list|var|check-attr|check-ignore|range-diff|grep|count-objects|worktree list)\b/,
  docker: /^(info|version|image inspect|ps|events|stats|context)\b/,
  podman: /^(info|version|image inspect|ps|events|stats)\b/,
  treehouse: /^(--version|status)\b/,
};

/** `git worktree add`, without options that stand before the command, and without what differs between runs. */
function commandOf(program, args) {
  const name = basename(program);
  const words = [];
  for (let index = 0; index < args.length; index += 1) {
    if (words.length === 0 && ["-c", "-C"].includes(args[index])) index += 1;
    else if (words.length > 0 || !args[index].startsWith("-") || args[index] === "--version")
      words.push(args[index]);
  }
  const text = words.join(" ");
  if (LOOKS[name]?.test(text) !== false) return undefined;
  const container = args.find((one) => one.startsWith("--name="));
  const two = ["worktree", "image"].includes(words[0]) ? words.slice(0, 2).join(" ") : words[0];
  return `${name} ${two}${container === undefined ? "" : ` ${place(container.slice(7))}`}`;
}

patch(childProcess, "spawn", (call, args) => {
  // Limits and fences are put up by shells that then become the program.
  const line = [args[0], ...args[1]];
  const start = line.findIndex((word) => basename(word) in LOOKS);
  const [program, ...words] = start === -1 ? line : line.slice(start);
  const command = commandOf(program ?? "", words ?? []);
  const endsDuring = command !== undefined && effect(command);
  const child = call(...args);
  if (endsDuring) end();
  return child;
});

syncBuiltinESMExports();

// --- journal ------------------------------------------------------------------------------------------------------

// The library itself is a part of guardloop's bundle, and takes these out of its native half when it is loaded.
const ofLibrary = createRequire(createRequire(import.meta.url).resolve("libsql"));
const native = ofLibrary(`@libsql/${ofLibrary("@neon-rs/load").currentTarget()}`);
const { databasePrepareSync: prepare, databaseExecSync: exec, statementRun: run } = native;
const writing = new WeakSet();
native.databasePrepareSync = function watched(sql) {
  const statement = prepare.call(this, sql);
  if (/^\s*(INSERT|UPDATE|DELETE)/i.test(sql)) writing.add(statement);
  return statement;
};
native.statementRun = function watched(values) {
  if (writing.has(this)) effect(`journal ${nameOf([values].flat())}`);
  return run.call(this, values);
};
native.databaseExecSync = function watched(sql) {
  if (!/^\s*(PRAGMA (busy|journal|synchronous))/i.test(sql))
    effect(`database ${sql.trim().split(/\s+/).slice(0, 3).join(" ")}`);
  return exec.call(this, sql);
};

function nameOf(values) {
  for (const value of values) {
    if (typeof value !== "string" || !value.startsWith("{")) continue;
    const { type, stage } = JSON.parse(value);
    return stage === undefined ? type : `${type} ${stage}`;
  }
  return "row";
}
