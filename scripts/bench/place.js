// Where a benchmark works: one temporary directory with a state of its own, and everything of it that has to be ended and
// removed, also on Ctrl-C.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const GUARDLOOP = join(ROOT, "bin/guardloop.js");
const PATHS = join(ROOT, "dist/run/paths.js");
/** Where guardloop is not built nothing runs, and there is nothing to find. */
const { stateId } = existsSync(PATHS) ? await import(PATHS) : { stateId: () => "none" };

/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();

/**
 * @param {{ engine: string, directory?: string }} options
 * @returns a directory, the built environment of every program in it, and what removes it all.
 */
export function makePlace({ engine, directory = tmpdir() }) {
  const root = realpathSync(mkdtempSync(join(directory, "guardloop-bench-")));
  const label = `guardloop.bench=${basename(root)}`;
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: join(root, "home"),
    XDG_STATE_HOME: join(root, "state"),
    XDG_CONFIG_HOME: join(root, "config"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Bench",
    GIT_AUTHOR_EMAIL: "bench@example.invalid",
    GIT_COMMITTER_NAME: "Bench",
    GIT_COMMITTER_EMAIL: "bench@example.invalid",
    LC_ALL: "C.UTF-8",
    // An engine elsewhere is asked like one here.
    ...pick(["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "XDG_RUNTIME_DIR"]),
  };
  mkdirSync(env.HOME);
  return {
    root,
    env,
    engine,
    label,
    remove: () => remove({ root, engine, label }),
  };
}

/** @typedef {ReturnType<typeof makePlace>} Place */

/** @param {readonly string[]} variables */
function pick(variables) {
  return Object.fromEntries(
    variables.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A place within a place: another home for the state, so that runs of one case are not the history of the next. */
export function stateOf(place, name) {
  const home = join(place.root, "states", name);
  return { home, state: join(home, "guardloop"), env: { ...place.env, XDG_STATE_HOME: home } };
}

/** Runs git, and returns what it prints. */
export function git(place, cwd, args, options = {}) {
  const limit = { maxBuffer: 2 ** 30 };
  return execFileSync("git", args, { cwd, env: place.env, encoding: "utf8", ...limit, ...options });
}

/**
 * Runs a program to its end, in a process group of its own.
 *
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string, startedAt: number, endedAt: number, ms: number }>}
 */
export function start(argv, { cwd, env, onLine, onStart }) {
  return new Promise((resolve, reject) => {
    const [program, ...args] = argv;
    const startedAt = Date.now();
    const from = performance.now();
    const child = spawn(program, args, { cwd, env, detached: true });
    children.add(child);
    const said = { stdout: "", stderr: "" };
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      said.stdout = `${said.stdout}${chunk}`.slice(-2_000_000);
      if (onLine === undefined) return;
      const whole = `${rest}${chunk}`.split("\n");
      rest = whole.pop() ?? "";
      for (const line of whole) onLine(line);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      said.stderr = `${said.stderr}${chunk}`.slice(-20_000);
    });
    child.on("error", reject);
    child.on("close", (code) => {
      children.delete(child);
      resolve({ code, ...said, startedAt, endedAt: Date.now(), ms: performance.now() - from });
    });
    onStart?.(child.pid);
  });
}

/** The same for a program whose failure ends the benchmark. */
export async function must(argv, options) {
  const ended = await start(argv, options);
  if (ended.code !== 0)
    throw new Error(
      `${argv[0]} ended with ${ended.code}:\n${ended.stderr}${ended.stdout.slice(-4000)}`,
    );
  return ended;
}

/** Ends what still runs and removes everything that this process made. May be called twice. */
function remove({ root, engine, label }) {
  if (!existsSync(root)) return;
  for (const { pid } of children) {
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }
  const labels = [label, ...statesIn(root).map((state) => `guardloop.state=${stateId(state)}`)];
  // A container whose client was ended just now may come into being while we look.
  for (let look = 0; look < 2; look += 1) {
    const containers = listed(engine, ["ps", "-aq"], labels);
    if (containers.length > 0) spawnSync(engine, ["rm", "--force", "--volumes", ...containers]);
  }
  const volumes = listed(engine, ["volume", "ls", "-q"], labels);
  if (volumes.length > 0) spawnSync(engine, ["volume", "rm", "--force", ...volumes]);
  removeTree(root);
}

/** The state directories of a place: their ids are on the containers of their runs. */
function statesIn(root) {
  const homes = names(join(root, "states")).map((one) => join(root, "states", one));
  return [join(root, "state"), ...homes]
    .map((home) => join(home, "guardloop"))
    .filter((state) => existsSync(state));
}

function names(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Ids of what has one of the labels. */
function listed(engine, args, labels) {
  return labels.flatMap((one) => {
    const { stdout } = spawnSync(engine, [...args, "--filter", `label=${one}`], {
      encoding: "utf8",
    });
    return (stdout ?? "").split("\n").filter((line) => line !== "");
  });
}

/** `rm` is quicker than Node for many files; what an overlay left may need more rights than it has. */
function removeTree(path) {
  const removed = spawnSync("rm", ["-rf", "--", path], { encoding: "utf8" });
  if (removed.status !== 0) process.stderr.write(`Not removed: ${path}\n${removed.stderr}`);
}
