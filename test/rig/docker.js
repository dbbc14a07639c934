#!/usr/bin/env node
// A scripted stand-in for the docker client. It keeps no promise of isolation: it runs the guest on the host with the
// mounted directories in place of the container's paths. Tests read what it was called with and switch faults on in
// `docker.faults.json` beside it. As `podman.js` it speaks Podman's dialect, with files of that name. In front of it stands
// engine.sh, which has the answers that are always the same.
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { letMountAgain, mountsIn, withOverlays } from "./scripted-mounts.js";

const here = dirname(fileURLToPath(import.meta.url));
const program = basename(process.argv[1], ".js");
const isPodman = program === "podman";
const containers = join(here, isPodman ? "podman-containers" : "containers");
const startedFile = join(here, `${program}.started`);
const argv = process.argv.slice(2);
appendFileSync(
  join(here, `${program}.calls.jsonl`),
  `${JSON.stringify({ argv, env: Object.keys(process.env).toSorted() })}\n`,
);
const faultsFile = join(here, `${program}.faults.json`);
const faults = existsSync(faultsFile) ? JSON.parse(readFileSync(faultsFile, "utf8")) : {};

const verb = ["image", "volume"].includes(argv[0]) ? `${argv[0]} ${argv[1]}` : argv[0];
const downFile = join(here, `${program}.down`);
const restartFile = join(here, `${program}.restart`);
const callsToRefuse = existsSync(downFile) ? Number(readFileSync(downFile, "utf8")) : 0;
if (callsToRefuse > 0) writeFileSync(downFile, String(callsToRefuse - 1));
if (faults.hang?.includes(verb) === true) await forEver();

if (faults.daemonGone === true || callsToRefuse > 0)
  die(
    isPodman
      ? "Error: creating runtime static files directory: mkdir /run/libpod: read-only file system"
      : "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    1,
  );

const imagesFile = join(here, `${program}.images.json`);
const verbs = {
  info,
  images: listImages,
  "image inspect": inspectImage,
  "image rm": removeImage,
  run,
  ps,
  kill,
  rm,
  events,
  stats,
  wait,
  logs,
  attach,
  "volume ls": () => {},
};
/** What the container mounts that this call starts. */
let given = {};
const handler = verbs[verb];
if (handler === undefined) die(`docker: '${verb}' is not scripted`, 1);
await handler();

function die(message, status) {
  process.stderr.write(`${message}\n`);
  process.exit(status);
}

/** An engine that took the call and never answers. Its client does not listen to a polite signal. */
function forEver() {
  process.on("SIGTERM", () => {});
  return new Promise(() => setInterval(() => {}, 60_000));
}

/** What a name that is not there is called, with the status that goes with it. */
function noSuchContainer(name) {
  if (isPodman) die(`Error: no container with name or ID "${name}" found: no such container`, 125);
  die(`Error: No such container: ${name}`, 1);
}

function podmanInfo() {
  const { rootless = false, controllers = ["cpu", "memory", "pids"], remote = false } = faults;
  console.log(
    JSON.stringify({
      host: {
        os: "linux",
        cpus: faults.cpus ?? 8,
        memTotal: 16 * 2 ** 30,
        cgroupVersion: faults.cgroupVersion ?? "v2",
        cgroupControllers: controllers,
        ociRuntime: { name: "crun" },
        serviceIsRemote: remote,
        security: {
          rootless,
          seccompEnabled: faults.noSeccomp !== true,
          selinuxEnabled: faults.selinux === true,
        },
      },
      version: { Version: faults.version ?? "4.3.1" },
    }),
  );
}

function info() {
  if (isPodman) return podmanInfo();
  const security = faults.securityOptions ?? ["name=seccomp,profile=default"];
  console.log(
    JSON.stringify({
      ServerVersion: "20.10.24",
      OSType: "linux",
      NCPU: faults.cpus ?? 8,
      MemTotal: 16 * 2 ** 30,
      SecurityOptions: security,
      DefaultRuntime: "runc",
      Runtimes: { runc: {}, runsc: {} },
    }),
  );
}

/** Images besides the agent's, as a test wrote them down: a list of what `image inspect` prints. */
function storedImages() {
  return existsSync(imagesFile) ? JSON.parse(readFileSync(imagesFile, "utf8")) : [];
}

/** `images --quiet` with the filters of a clean-up. */
function listImages() {
  const label = argv.find((one) => one.startsWith("--filter=label="))?.slice(15);
  const isDangling = argv.includes("--filter=dangling=true");
  for (const { Id, RepoTags, Config } of storedImages())
    if ((!isDangling || RepoTags.length === 0) && (label === undefined || label in Config.Labels))
      console.log(Id);
}

function removeImage() {
  const id = argv.at(-1);
  const image = storedImages().find((one) => one.Id === id);
  if (image === undefined) die(`Error: No such image: ${id}`, 1);
  if (image.used === true)
    die(`Error: conflict: unable to delete ${id}: image is being used by running container`, 1);
  writeFileSync(imagesFile, JSON.stringify(storedImages().filter((one) => one.Id !== id)));
}

function inspectImage() {
  const name = argv.at(-1);
  const stored = storedImages().find((one) => one.Id === name);
  if (stored !== undefined) return console.log(JSON.stringify(isPodman ? [stored] : stored));
  if (faults.imageMissing === true)
    die(
      isPodman
        ? `Error: inspecting object: ${name}: image not known`
        : `Error: No such image: ${name}`,
      isPodman ? 125 : 1,
    );
  const labels = faults.foreignImage === true ? {} : { "guardloop.image.version": "1" };
  const prefix = isPodman ? "" : "sha256:";
  const image = { Id: `${prefix}${"ab".repeat(32)}`, Config: { Labels: labels } };
  console.log(JSON.stringify(isPodman ? [image] : image));
}

function ps() {
  mkdirSync(containers, { recursive: true });
  const name = argv.find((one) => one.startsWith("name=^"))?.replace(/^name=\^\/?(.*)\$$/, "$1");
  const list = argv.some((one) => one.includes("label=guardloop.run"));
  const stateLabel = "--filter=label=guardloop.state=";
  const state = argv.find((one) => one.startsWith(stateLabel))?.slice(stateLabel.length);
  const found = readdirSync(containers)
    .map((one) => ({ one, ...JSON.parse(readFileSync(join(containers, one), "utf8")) }))
    .filter((known) => name === undefined || known.one === name)
    .filter((known) => state === undefined || known.state === state);
  if (isPodman && list) {
    const rows = found.map(({ one, run: id }) => ({
      Names: [one],
      Labels: { "guardloop.run": id },
    }));
    console.log(JSON.stringify(rows));
    return;
  }
  for (const { one, run: id } of found) console.log(list ? `${one}	${id}` : one);
}

function kill() {
  const name = argv.at(-1);
  const file = join(containers, name);
  if (!existsSync(file)) noSuchContainer(name);
  const signal = (argv.find((one) => one.startsWith("--signal=")) ?? "--signal=KILL").slice(
    "--signal=".length,
  );
  const known = JSON.parse(readFileSync(file, "utf8"));
  try {
    process.kill(known.pid, `SIG${signal}`);
  } catch {
    die(`Error: container ${name} is not running`, 1);
  }
  if (signal === "KILL") endProcessesOf(known.run);
}

function rm() {
  const name = argv.at(-1);
  const file = join(containers, name);
  if (!existsSync(file)) noSuchContainer(name);
  if (faults.removeRefused === true)
    die(`Error response from daemon: container ${name}: could not kill: permission problem`, 1);
  const known = JSON.parse(readFileSync(file, "utf8"));
  try {
    process.kill(-known.pid, "SIGKILL");
  } catch {}
  endProcessesOf(known.run);
  rmSync(file, { force: true });
}

/** With its first process a container is gone, and everything in it. Here the run's id in the environment says what is. */
function endProcessesOf(runId) {
  if (faults.processesStay === true) return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (environment.includes(`GUARDLOOP_RUN_ID=${runId}`)) process.kill(Number(pid), "SIGKILL");
    } catch {}
}

/** Prints the status of a container when it has ended, like an engine that keeps it for whoever asked in time. */
async function wait() {
  const name = argv.at(-1);
  if (!existsSync(join(containers, name))) noSuchContainer(name);
  while (existsSync(join(containers, name))) await delay(20);
  const status = join(here, "ended", name);
  console.log(existsSync(status) ? readFileSync(status, "utf8") : "137");
}

/** What the container printed from a time on, until its end. */
async function logs() {
  const since = Number(argv.find((one) => one.startsWith("--since="))?.slice("--since=".length));
  await printOutput(argv.at(-1), since * 1000);
}

/** What the container prints from now on: Podman is told to keep no output. */
async function attach() {
  await printOutput(argv.at(-1), Date.now());
}

async function printOutput(name, sinceMs) {
  if (!existsSync(join(containers, name))) noSuchContainer(name);
  const file = join(here, "output", name);
  let seen = 0;
  for (let isOver = false; !isOver;) {
    isOver = !existsSync(join(containers, name));
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    for (const { at, stream, text } of lines.slice(seen).map((line) => JSON.parse(line)))
      if (at >= sinceMs) process[stream].write(Buffer.from(text, "base64"));
    seen = lines.length;
    if (!isOver) await delay(20);
  }
}

function stats() {
  const name = argv.at(-1);
  if (!existsSync(join(containers, name))) noSuchContainer(name);
  const { cpu = "12.50%", memory = isPodman ? "268.4MB / 4.295GB" : "256MiB / 4GiB" } =
    faults.stats ?? {};
  if (isPodman) console.log(JSON.stringify([{ name, cpu_percent: cpu, mem_usage: memory }]));
  else console.log(JSON.stringify({ Name: name, CPUPerc: cpu, MemUsage: memory }));
}

function events() {
  if (argv.includes("--filter=event=start")) return startEvents();
  if (faults.outOfMemory !== true) return;
  if (isPodman) console.log(JSON.stringify({ Status: "died", Attributes: { OOMKilled: "true" } }));
  else console.log(JSON.stringify("oom"));
}

/** A container that was started stays on the list, whatever became of it. */
function startEvents() {
  const name = argv
    .find((one) => one.startsWith("--filter=container="))
    ?.split("=")
    .at(-1);
  const started = existsSync(startedFile) ? readFileSync(startedFile, "utf8").split("\n") : [];
  if (!started.includes(name)) return;
  console.log(isPodman ? JSON.stringify({ Name: name, Status: "start" }) : JSON.stringify("start"));
}

async function run() {
  refuseByFault();
  refuseOverlays();
  given = mountsIn(value("mount"));
  if (argv.some((one) => one.startsWith("--name=guardloop-image-check-"))) return checkImage();
  if (argv.some((one) => one.startsWith("--name=guardloop-limits-check-"))) return checkLimits();
  if (argv.some((one) => one.startsWith("--name=guardloop-clock-check-")))
    return console.log(Date.now() + (faults.clockAheadMs ?? 0));
  if (argv.some((one) => one.startsWith("--name=guardloop-agent-check-"))) return checkAgent();
  if (argv.some((one) => one.startsWith("--name=guardloop-overlay-check-"))) return runAsGiven();
  return runGuest();
}

/** Looks for the agent's program where a test put it: first on PATH. */
function checkAgent() {
  const { PATH } = process.env;
  process.stdout.write(execFileSync(process.execPath, ["-e", argv.at(-1)], { env: { PATH } }));
}

function refuseByFault() {
  if (faults.validationRefused === true && argv.some((one) => /^--name=.*-validate$/.test(one)))
    die("docker: Error response from daemon: no space left on device.", 125);
  if (faults.runRefused === true)
    die("docker: Error response from daemon: something is wrong.", 125);
  if (faults.crunFails === true && !argv.includes("--runtime=runc"))
    die("Error: OCI runtime error: crun: the requested cgroup controller is not available", 126);
}

/** Values of an option that was given as `--name=value`. */
function value(name) {
  const start = `--${name}=`;
  return argv.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length));
}

/** A check's own command, as the container's user; what is mounted is where it starts. */
async function runAsGiven() {
  const [name] = value("name");
  const [user] = value("user");
  const [uid, gid] = user.split(":");
  const entrypoint = argv.findIndex((one) => one.startsWith("--entrypoint="));
  const command = [argv[entrypoint].slice("--entrypoint=".length), ...argv.slice(entrypoint + 2)];
  const drop = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  const [first, ...rest] = withOverlays(given, [...drop, ...command]);
  const child = spawn(first, rest, {
    cwd: given[value("workdir")[0]]?.source ?? "/",
    env: { PATH: process.env.PATH, HOME: "/" },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  keepOutput(child, name);
  register(child, name);
  const status = await endOf(child);
  removeMountPoints();
  rmSync(join(containers, name), { force: true });
  await flushed();
  process.exit(status);
}

/** Unless a test lets it, it is an engine that cannot mount them, such as one in a virtual machine. */
function refuseOverlays() {
  if (!argv.some((one) => one.includes("volume-opt=type=overlay"))) return;
  if (existsSync(join(here, `${program}.overlays`))) return;
  if (isPodman)
    die(
      "Error: mounting volume abab for container abab: mount: wrong fs type, bad option, bad superblock on overlay",
      126,
    );
  die(
    "docker: Error response from daemon: error while mounting volume: failed to mount local volume: invalid argument.",
    125,
  );
}

function removeMountPoints() {
  for (const { source, options } of Object.values(given))
    if (options !== undefined) rmdirSync(source);
}

/** From now on the container is there. */
function register(child, name) {
  mkdirSync(containers, { recursive: true });
  const labels = Object.fromEntries(value("label").map((one) => one.split("=")));
  const known = { pid: child.pid, run: labels["guardloop.run"], state: labels["guardloop.state"] };
  writeFileSync(join(containers, name), JSON.stringify(known));
  appendFileSync(startedFile, `${name}\n`);
  return known;
}

async function runGuest() {
  const [name] = value("name");
  const mounts = Object.fromEntries(
    Object.entries(given).map(([target, { source }]) => [target, source]),
  );
  const onHost = (path) => {
    const target = Object.keys(mounts)
      .filter((one) => path === one || path.startsWith(`${one}/`))
      .toSorted((a, b) => b.length - a.length)[0];
    return target === undefined ? path : mounts[target] + path.slice(target.length);
  };
  const home = mkdtempSync(join(tmpdir(), "scripted-home-"));
  const isValidation = name.endsWith("-validate");
  mountBelowHome(mounts, home);
  const inContainer = isValidation
    ? ["sh", "-c", argv.at(-1)]
    : [
        process.execPath,
        onHost("/guardloop/job/guest.cjs"),
        await prepareJob(onHost, argv.at(-1), home),
      ];
  const env = { PATH: process.env.PATH };
  for (const one of value("env")) {
    const [key, ...rest] = one.split("=");
    env[key] = rest.length === 0 ? process.env[key] : onHost(rest.join("="));
  }
  env.HOME = home;
  // The client's group is not the container's: ending the client leaves the container running, as with a real engine.
  const [first, ...rest] = withOverlays(given, inContainer);
  const child = spawn(first, rest, {
    cwd: mounts["/workspace"],
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  keepOutput(child, name);
  const known = register(child, name);
  const status = await Promise.race([endOf(child), restarted()]);
  endProcessesOf(known.run);
  if (status === "restarted") {
    rmSync(join(containers, name), { force: true });
    die('time="2026-11-29T12:00:00Z" level=error msg="error waiting for container: EOF"', 125);
  }
  mkdirSync(join(here, "ended"), { recursive: true });
  writeFileSync(join(here, "ended", name), String(status));
  if (!isValidation && !name.endsWith("-setup")) after(onHost, name);
  removeMountPoints();
  rmSync(home, { recursive: true, force: true });
  if (faults.containerStays !== true) rmSync(join(containers, name), { force: true });
  await flushed();
  if (faults.clientStays === true && !isValidation) await forEver();
  process.exit(status);
}

/** The engine is started again, and refuses as many calls as the file says; the containers it had are gone. */
async function restarted() {
  while (!existsSync(restartFile)) await delay(50);
  renameSync(restartFile, downFile);
  return "restarted";
}

/** A pipe takes only so much at once; what is not written yet would be lost at the exit. */
function flushed() {
  const all = [process.stdout, process.stderr].map(
    (stream) => new Promise((resolve) => stream.write("", resolve)),
  );
  return Promise.race([Promise.all(all), delay(2000)]);
}

/** The engine reads the output, whether or not the client that started the container still does. */
function keepOutput(child, name) {
  mkdirSync(join(here, "output"), { recursive: true });
  for (const stream of ["stdout", "stderr"]) {
    process[stream].on("error", () => {});
    child[stream].on("data", (chunk) => {
      const line = { at: Date.now(), stream, text: chunk.toString("base64") };
      appendFileSync(join(here, "output", name), `${JSON.stringify(line)}\n`);
      process[stream].write(chunk);
    });
  }
}

/** What the first process left running may hold its pipes; in a real container it would be gone. */
function endOf(child) {
  return new Promise((resolve) => {
    const done = () => resolve(child.signalCode === null ? child.exitCode : 137);
    child.on("close", done);
    child.on("exit", () => setTimeout(done, 500));
  });
}

/** The limits that were asked for; `limits` says which are in force otherwise. */
function checkLimits() {
  const asked = (name) =>
    argv.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3) ?? "max";
  const inForce = { memory: asked("memory"), pids: asked("pids-limit"), cpus: asked("cpus") };
  console.log(JSON.stringify({ ...inForce, ...faults.limits }));
}

/** What a foreign image says when it is asked for node and git; `imageHas` is its answer, or "no node". */
function checkImage() {
  const has = faults.imageHas ?? { node: "22.0.0", git: "git version 2.47.3" };
  if (has === "no node")
    die(
      'docker: Error response from daemon: failed to create task: exec: "node": executable file not found in $PATH: unknown.',
      127,
    );
  console.log(JSON.stringify(has));
}

/** A directory of the test's stands for the home in memory; what is mounted below it is linked there. */
function mountBelowHome(mounts, home) {
  for (const [target, source] of Object.entries(mounts)) {
    if (!target.startsWith("/guardloop/home/")) continue;
    const link = join(home, target.slice("/guardloop/home/".length));
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(source, link);
  }
}

/** Rewrites the job for the host, and lets Git in the snapshot find the base's objects there. */
async function prepareJob(onHost, jobPath, home) {
  const job = await withOwnPorts(JSON.parse(readFileSync(onHost(jobPath), "utf8")));
  for (const relay of job.relays ?? []) relay.socket = onHost(relay.socket);
  job.isolation = "none";
  for (const [key, path] of Object.entries(job.paths)) job.paths[key] = onHost(path);
  const alternates = join(onHost("/workspace"), ".git/objects/info/alternates");
  if (existsSync(alternates))
    writeFileSync(alternates, `${onHost("/guardloop/base.git")}/objects\n`);
  const seed = onHost("/guardloop/seed.git");
  const borrowed = join(onHost("/guardloop/base.git"), "objects/info/alternates");
  if (seed !== "/guardloop/seed.git") writeFileSync(borrowed, `${seed}/objects\n`);
  const jobFile = join(home, "job.json");
  writeFileSync(jobFile, JSON.stringify(job));
  return jobFile;
}

/** All containers share the host's ports here, so each relay gets one that is free, also in what the agent is told. */
async function withOwnPorts(job) {
  let text = JSON.stringify(job);
  for (const { port } of job.relays ?? []) {
    const own = await freePort();
    text = text
      .replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${own}`)
      .replaceAll(`"port":${port}`, `"port":${own}`);
  }
  return JSON.parse(text);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Faults of what comes out of a container. */
function after(onHost, name) {
  const outbox = onHost("/guardloop/artifacts");
  for (const file of faults.removeArtifacts ?? [])
    rmSync(join(outbox, file), { recursive: true, force: true });
  if (faults.editPatch !== undefined)
    for (const file of readdirSync(join(outbox, "patches"))) {
      const path = join(outbox, "patches", file);
      writeFileSync(
        path,
        readFileSync(path, "utf8").replaceAll(faults.editPatch.from, faults.editPatch.to),
      );
    }
  for (const [file, text] of Object.entries(faults.writeArtifacts ?? {}))
    writeFileSync(join(outbox, file), text);
  // A shell script with the last word, after the guest of an agent's container has ended.
  if (faults.afterScript !== undefined && name.endsWith("-agent")) runFaultScript(onHost, outbox);
}

function runFaultScript(onHost, outbox) {
  const env = {
    PATH: process.env.PATH,
    OUTBOX: outbox,
    WORKSPACE: onHost("/workspace"),
    BASE_STORE: onHost("/guardloop/base.git"),
    FAULTS: faultsFile,
  };
  letMountAgain(given);
  const [first, ...rest] = withOverlays(given, ["sh", "-ec", faults.afterScript]);
  try {
    execFileSync(first, rest, { cwd: outbox, env, stdio: "inherit" });
  } catch (error) {
    die(`the test's own fault script failed: ${error.message}`, 125);
  }
}
