#!/usr/bin/env node
// A scripted stand-in for treehouse 2.x and 3.x (github.com/kunchenguid/treehouse), faithful to what automation sees:
// flags, JSON shapes, exit codes, standard output against standard error, pool layout, the state file, a blocking
// lock, and real git worktrees. It does not look for processes inside worktrees, and knows no jj.
//
// Copy it to a directory on PATH as `treehouse`. It runs as CommonJS and as an ES module, hence no static import.
// Beside itself it reads `treehouse.faults.json` (a driver passes no environment of the test's on):
//
//   version       "v2.3.0"    also by TREEHOUSE_FAKE_VERSION; default v2.3.0
//   noise         true        banners on standard error (and, with "stdout", a line before the JSON too)
//   fail          {"get":"text"}   that command ends with 1 and the text
//   fetchFailed   true        `get` without --no-fetch ends with 1
//   poolFull      true        `get` ends with 1, and no slot is made
//   keepLease     N           the first N returns end with 0 and keep the lease
//   exit3         true        `return` ends with 3 and keeps the lease
//   hang          ["status"]  these commands wait for the lock for ever
//   hangAfterLease true       `get` stores the lease and then prints nothing and never ends
//   wedge         true        `get` makes a worktree and is killed before it stores anything
//   foreignClone  "/path"     `get` hands out a worktree of that repository
//   wrongBase     "<commit>"  `get` hands out a worktree at that commit
//   dirty         "name"      `get` hands out a worktree with that file in it, untracked
//   attached      "branch"    `get` hands out a worktree on that branch
//   outside       "/path"     `get` prints that path instead of the worktree's
//   garbage       ["get"]     these commands print no JSON (`get` stores its lease all the same)
//   unlanded      false       `get` hands out slots again whose HEAD is not part of the default branch
//
// It appends {argv, cwd, env: names} for each call to `treehouse.calls.jsonl` beside itself.

const MAX_TREES = 16;

/** An expected failure: the text goes to standard error, the status is the program's. */
class Refusal extends Error {
  constructor(message, status = 1) {
    super(message);
    this.status = status;
  }
}

async function start() {
  const fs = await import("node:fs");
  const path = await import("node:path");
  const { execFileSync } = await import("node:child_process");
  const { createHash, randomBytes } = await import("node:crypto");
  const here = path.dirname(process.argv[1]);
  const faults = readJson(fs, path.join(here, "treehouse.faults.json")) ?? {};
  const version = faults.version ?? process.env.TREEHOUSE_FAKE_VERSION ?? "v2.3.0";
  const major = Number(/^v?(\d+)/.exec(version)?.[1] ?? 2);
  const world = { fs, path, faults, version, major, here, execFileSync, createHash, randomBytes };
  record(world);
  if (process.argv.includes("--version")) return print(`${version}\n`);
  await dispatch(world, parseArguments(process.argv.slice(2), major));
}

async function dispatch(world, call) {
  const { faults } = world;
  if (faults.noise) complain("A new release of treehouse is available: v9.9.9\n");
  if (faults.noise === "stdout") print("Welcome back!\n");
  if (faults.hang?.includes(call.command)) return hang();
  const planned = faults.fail?.[call.command];
  if (planned !== undefined) throw new Refusal(planned);
  const command = COMMANDS[call.command];
  if (command === undefined) throw new Refusal(`unknown command "${call.command}"`);
  await command(world, call);
}

const COMMANDS = { get: commandGet, status: commandStatus, return: commandReturn, destroy };

// --- commands ---------------------------------------------------------------------------------------------------

async function commandGet(world, call) {
  if (call.flags.json && !call.flags.lease) throw new Refusal("--json requires --lease");
  if (!call.flags.lease) throw new Refusal("the stand-in opens no subshell");
  const pool = poolHere(world, call);
  const target = resetTarget(world, pool.main, call.flags.base);
  if (!call.flags["no-fetch"]) fetchOrigin(world, pool.main);
  complain(`Acquiring a worktree of ${pool.main}\n`);
  const leased = await withLock(world, pool, () => leaseSlot(world, pool, { target, call }));
  if (world.faults.hangAfterLease) return hang();
  if (world.faults.garbage?.includes("get")) return print("Segmentation fault (core dumped)\n");
  const shown = { ...leased, path: world.faults.outside ?? leased.path };
  const more = world.major >= 3 ? { base_branch: target.branch } : {};
  if (call.flags.json) print(`${JSON.stringify({ ...shown, ...more })}\n`);
  else print(`${shown.path}\n`);
}

function leaseSlot(world, pool, request) {
  if (world.faults.poolFull) throw new Refusal(poolFullText());
  const state = readState(world, pool);
  const slot = reusableSlot(world, pool, { state, target: request.target });
  const row = slot ?? newSlot(world, pool, { state, target: request.target });
  if (slot !== undefined) reset(world, row.path, request.target.commit);
  spoil(world, row.path);
  if (world.major >= 3)
    seedIgnored(world, pool, { row, includeFile: request.call.flags["include-file"] });
  row.lease_id = world.randomBytes(16).toString("hex");
  row.lease_holder = request.call.flags["lease-holder"] ?? process.env.TREEHOUSE_LEASE_HOLDER ?? "";
  row.leased_at = new Date().toISOString().replace("Z", "000000Z");
  if (slot === undefined) state.worktrees.push(row);
  writeState(world, pool, state);
  const { path, lease_id, lease_holder, leased_at } = row;
  return { path, lease_id, lease_holder, leased_at };
}

function reusableSlot(world, pool, { state, target }) {
  if (world.faults.foreignClone !== undefined) return undefined;
  return state.worktrees.find(
    (row) =>
      row.lease_id === "" &&
      statusOf(world, row) === "available" &&
      (world.faults.unlanded === false || isAncestor(world, row.path, ["HEAD", target.commit])),
  );
}

function newSlot(world, pool, { state, target }) {
  if (state.worktrees.length >= MAX_TREES) throw new Refusal(poolFullText());
  const taken = new Set(state.worktrees.map((row) => row.name));
  let number = 1;
  while (taken.has(String(number))) number += 1;
  const parent = world.path.join(pool.directory, String(number));
  const at = world.path.join(parent, world.path.basename(pool.main));
  world.fs.mkdirSync(parent, { recursive: true });
  const from = world.faults.foreignClone ?? pool.main;
  const commit = world.faults.foreignClone === undefined ? target.commit : "HEAD";
  // Forced: a registration whose directory is gone heals (2.2).
  git(world, from, ["worktree", "add", "--force", "--detach", at, commit]);
  if (world.faults.wedge) process.kill(process.pid, "SIGKILL");
  return { name: String(number), path: at, lease_id: "", lease_holder: "", leased_at: null };
}

/** Hands out something that the driver must not accept as it is. */
function spoil(world, at) {
  const { wrongBase, attached, dirty } = world.faults;
  if (wrongBase !== undefined) git(world, at, ["checkout", "--quiet", "--detach", wrongBase]);
  if (attached !== undefined) git(world, at, ["checkout", "--quiet", "-B", attached]);
  if (dirty !== undefined) world.fs.writeFileSync(world.path.join(at, dirty), "left over\n");
}

/** 3.x: the ignored files that `.worktreeinclude` (or --include-file) names are copied from the main checkout. */
function seedIgnored(world, pool, { row, includeFile }) {
  const list = includeFile ?? world.path.join(pool.main, ".worktreeinclude");
  if (includeFile !== undefined && !world.fs.existsSync(list))
    throw new Refusal(`include file ${list} does not exist`);
  if (!world.fs.existsSync(list)) return;
  const names = world.fs.readFileSync(list, "utf8").split("\n").filter(Boolean);
  for (const name of names) {
    const source = world.path.join(pool.main, name);
    if (world.fs.existsSync(source)) world.fs.copyFileSync(source, world.path.join(row.path, name));
  }
}

async function commandStatus(world, call) {
  const pool = poolHere(world, call);
  const rows = await withLock(world, pool, () => readState(world, pool).worktrees);
  if (world.faults.garbage?.includes("status")) return print("<html>\n");
  const shown = rows.map((row) => statusRow(world, row));
  if (call.flags.json) return print(`${JSON.stringify(shown)}\n`);
  if (shown.length === 0) complain("No worktrees in pool.\n");
  for (const row of shown) print(`${row.name}  ${row.status}  ${row.path}\n`);
}

function statusRow(world, row) {
  const status = row.lease_id === "" ? statusOf(world, row) : "leased";
  const alive = hasGit(world, row);
  return {
    name: row.name,
    path: row.path,
    status,
    ...(alive ? { flavor: "git" } : {}),
    ...(alive && world.major >= 3 ? { branch: "" } : {}),
    lease_id: row.lease_id,
    lease_holder: row.lease_holder,
    leased_at: row.leased_at,
    processes: [],
  };
}

async function commandReturn(world, call) {
  const at = call.words[0] ?? process.env.TREEHOUSE_DIR ?? process.cwd();
  const pool = poolOfPath(world, at);
  await withLock(world, pool, () => returnSlot(world, pool, { at, call }));
}

function returnSlot(world, pool, { at, call }) {
  const state = readState(world, pool);
  const row = state.worktrees.find((each) => each.path === at.replace(/\/+$/, ""));
  if (row === undefined) throw new Refusal(`${at} is not managed by treehouse`);
  checkPreconditions(row, call.flags);
  if (world.faults.exit3) throw new Refusal("Aborted: the worktree has changes.", 3);
  if (!call.flags.force && hasGit(world, row) && statusOf(world, row) === "dirty") {
    // Standard input is not a terminal: end-of-file declines the question.
    complain("Worktree has uncommitted changes. Discard them? [y/N] Aborted.\n");
    if (world.major >= 3) throw new Refusal("return was declined", 3);
    return;
  }
  if (keepsLease(world)) return;
  giveBack(world, pool, { state, row });
  writeState(world, pool, state);
}

function checkPreconditions(row, flags) {
  const id = flags["if-lease-id"];
  const holder = flags["if-lease-holder"];
  if (id === undefined && holder === undefined) return;
  if (row.lease_id === "") throw new Refusal(`Error: worktree ${row.name} is not leased`);
  if ((id ?? row.lease_id) !== row.lease_id || (holder ?? row.lease_holder) !== row.lease_holder)
    throw new Refusal("Error: lease identity does not match");
}

function giveBack(world, pool, { state, row }) {
  if (!world.fs.existsSync(row.path)) {
    state.worktrees = state.worktrees.filter((each) => each !== row);
    return;
  }
  if (hasGit(world, row)) reset(world, row.path, resetTarget(world, pool.main).commit);
  Object.assign(row, { lease_id: "", lease_holder: "", leased_at: null });
}

async function destroy(world, call) {
  const at = call.words[0];
  if (at === undefined || call.flags.all) throw new Refusal("the stand-in destroys one path only");
  const pool = poolOfPath(world, at);
  await withLock(world, pool, () => {
    const state = readState(world, pool);
    const row = state.worktrees.find((each) => each.path === at);
    if (row === undefined) throw new Refusal(`${at} is not managed by treehouse`);
    if (!call.flags.yes) return print(`Would remove ${at}\n`);
    if (row.lease_id !== "" && !call.flags["include-leased"]) throw new Refusal("leased: skipped");
    if (!hasGit(world, row) && !call.flags["include-unlanded"]) throw new Refusal("skipped");
    world.fs.rmSync(at, { recursive: true, force: true });
    git(world, pool.main, ["worktree", "prune"]);
    state.worktrees = state.worktrees.filter((each) => each !== row);
    writeState(world, pool, state);
  });
}

// --- pool and state ---------------------------------------------------------------------------------------------

/** The pool of the current directory; from inside a pooled worktree it resolves back to the main checkout. */
function poolHere(world, call) {
  let common;
  try {
    common = git(world, process.cwd(), ["rev-parse", "--path-format=absolute", "--git-common-dir"]);
  } catch {
    throw new Refusal("not a git repository");
  }
  const top = world.path.dirname(common);
  const main = world.path.basename(common) === ".git" ? top : common;
  const root = world.path.resolve(main, rootOf(world, main, call));
  const origin = attempt(() => git(world, main, ["remote", "get-url", "origin"])) ?? main;
  const hash = world.createHash("sha256").update(origin).digest("hex").slice(0, 6);
  const name = `${world.path.basename(main)}-${hash}`;
  return { main, directory: world.path.join(root, ".treehouse", name) };
}

/** --root, $TREEHOUSE_ROOT, the repository's treehouse.toml (a repository can move the pool), then HOME. */
function rootOf(world, main, call) {
  if (call.flags.root !== undefined) return call.flags.root;
  if (process.env.TREEHOUSE_ROOT) return process.env.TREEHOUSE_ROOT;
  const toml = attempt(() =>
    world.fs.readFileSync(world.path.join(main, "treehouse.toml"), "utf8"),
  );
  const named = /^root\s*=\s*"([^"]+)"/m.exec(toml ?? "")?.[1];
  if (named !== undefined) return named;
  if (!process.env.HOME) throw new Refusal("cannot determine home directory");
  return process.env.HOME;
}

/** `return` and `destroy` find the pool two directories above the worktree, whatever the current directory is. */
function poolOfPath(world, at) {
  const directory = world.path.dirname(world.path.dirname(world.path.resolve(at)));
  if (!world.fs.existsSync(world.path.join(directory, "treehouse-state.json")))
    throw new Refusal(`${at} is not managed by treehouse`);
  const state = readState(world, { directory });
  return { directory, main: state.main };
}

function readState(world, pool) {
  const file = world.path.join(pool.directory, "treehouse-state.json");
  return readJson(world.fs, file) ?? { main: pool.main, worktrees: [] };
}

function writeState(world, pool, state) {
  const file = world.path.join(pool.directory, "treehouse-state.json");
  const version = world.major >= 3 ? { version: 3 } : {};
  world.fs.writeFileSync(`${file}.tmp`, JSON.stringify({ ...version, ...state }));
  world.fs.renameSync(`${file}.tmp`, file);
}

/**
 * Like flock(LOCK_EX): waits without limit, and is gone with its process. The lock is a directory with one file
 * named by the process; rename(2) puts it there only while there is none.
 */
async function withLock(world, pool, work) {
  const lock = world.path.join(pool.directory, "treehouse-state.lock");
  const mine = `${lock}.${process.pid}`;
  world.fs.mkdirSync(mine, { recursive: true });
  world.fs.writeFileSync(world.path.join(mine, String(process.pid)), "");
  while (attempt(() => world.fs.renameSync(mine, lock) ?? "locked") === undefined) {
    for (const pid of attempt(() => world.fs.readdirSync(lock)) ?? []) {
      if (!isAlive(Number(pid))) attempt(() => world.fs.unlinkSync(world.path.join(lock, pid)));
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  try {
    return work();
  } finally {
    world.fs.unlinkSync(world.path.join(lock, String(process.pid)));
  }
}

function keepsLease(world) {
  const file = world.path.join(world.here, "treehouse.kept.json");
  const kept = readJson(world.fs, file) ?? 0;
  if (kept >= (world.faults.keepLease ?? 0)) return false;
  world.fs.writeFileSync(file, String(kept + 1));
  return true;
}

// --- git --------------------------------------------------------------------------------------------------------

function git(world, cwd, args) {
  try {
    const options = { cwd, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" };
    return world.execFileSync("git", args, options).trim();
  } catch (error) {
    throw new Refusal(`Error: git ${args[0]} failed: ${String(error.stderr ?? error).trim()}`);
  }
}

/** The default branch: origin/HEAD, else the branch checked out in the main checkout, else init.defaultBranch. */
function resetTarget(world, main, base) {
  const originHead = attempt(() =>
    git(world, main, ["symbolic-ref", "--short", "refs/remotes/origin/HEAD"]),
  );
  const current = attempt(() => git(world, main, ["symbolic-ref", "--short", "HEAD"]));
  const configured = attempt(() => git(world, main, ["config", "init.defaultBranch"]));
  const branch = base ?? originHead?.replace(/^origin\//, "") ?? current ?? configured;
  if (branch === undefined) throw new Refusal("cannot determine the default branch");
  const local = commitOf(world, main, `refs/heads/${branch}`);
  const remote = commitOf(world, main, `refs/remotes/origin/${branch}`);
  const both = local !== undefined && remote !== undefined;
  const ahead = both && isAncestor(world, main, [remote, local]);
  const commit = ahead ? local : (remote ?? local);
  if (commit === undefined) throw new Refusal(`branch ${branch} has no commit`);
  return { branch, commit };
}

function commitOf(world, main, ref) {
  return attempt(() => git(world, main, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]));
}

function isAncestor(world, cwd, [ancestor, descendant]) {
  const args = ["merge-base", "--is-ancestor", ancestor, descendant];
  return attempt(() => git(world, cwd, args)) !== undefined;
}

function fetchOrigin(world, main) {
  if (world.faults.fetchFailed) throw new Refusal("Error: fetch failed: origin is unreachable");
  if (attempt(() => git(world, main, ["remote", "get-url", "origin"])) === undefined) return;
  if (attempt(() => git(world, main, ["fetch", "--quiet", "origin"])) === undefined)
    throw new Refusal("Error: fetch failed");
}

/** Ignored files are never removed. */
function reset(world, at, commit) {
  git(world, at, ["read-tree", "--reset", "-u", commit]);
  git(world, at, ["update-ref", "--no-deref", "HEAD", commit]);
  git(world, at, ["clean", "-fdq"]);
}

function hasGit(world, row) {
  return world.fs.existsSync(world.path.join(row.path, ".git"));
}

function statusOf(world, row) {
  if (!hasGit(world, row)) return "damaged";
  const args = ["status", "--porcelain", "--untracked-files=all"];
  const changes = attempt(() => git(world, row.path, args));
  if (changes === undefined) return "damaged";
  return changes === "" ? "available" : "dirty";
}

// --- command line and small things --------------------------------------------------------------------------------

const VALUE_FLAGS = ["root", "lease-holder", "if-lease-id", "if-lease-holder"];
const SWITCHES = {
  get: ["lease", "json", "no-fetch"],
  status: ["json"],
  return: ["force"],
  destroy: ["yes", "all", "include-unlanded", "include-in-use", "include-leased"],
};
const FROM_3 = ["base", "branch", "include-file", "worktree-path"];

function parseArguments(argv, major) {
  const flags = {};
  const words = [];
  const values = major >= 3 ? [...VALUE_FLAGS, ...FROM_3] : VALUE_FLAGS;
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index];
    const [name, inline] = argument.replace(/^--/, "").split(/=(.*)/s);
    if (!argument.startsWith("-")) words.push(argument);
    else if (values.includes(name)) flags[name] = inline ?? argv[(index += 1)];
    else if (SWITCHES[words[0]]?.includes(name)) flags[name] = true;
    else throw new Refusal(`Error: unknown flag: ${argument}`);
  }
  return { command: words[0] ?? "", flags, words: words.slice(1) };
}

function record(world) {
  const call = {
    argv: process.argv.slice(2),
    cwd: process.cwd(),
    env: Object.keys(process.env).toSorted(),
  };
  const file = world.path.join(world.here, "treehouse.calls.jsonl");
  world.fs.appendFileSync(file, `${JSON.stringify(call)}\n`);
}

function poolFullText() {
  return `Error: all ${MAX_TREES} worktrees are in use (max_trees)`;
}

/** Waits for a lock that nobody gives back; only a signal ends it. */
function hang() {
  setInterval(() => {}, 60_000);
}

function readJson(fs, file) {
  return attempt(() => JSON.parse(fs.readFileSync(file, "utf8")));
}

function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  return attempt(() => process.kill(pid, 0)) === true;
}

function print(text) {
  process.stdout.write(text);
}

function complain(text) {
  process.stderr.write(text);
}

start().catch((error) => {
  complain(`${error instanceof Refusal ? error.message : error.stack}\n`);
  process.exitCode = error instanceof Refusal ? error.status : 1;
});
