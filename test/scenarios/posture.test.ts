import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Agreed } from "../../src/selftest/agreed.ts";
import type { Found } from "../../src/selftest/probe/found.ts";
import { differences } from "../contract/expected-posture.ts";
import { type Probed, bundledProbe, probeByRun } from "../contract/probed-run.ts";
import { type World, leftovers, makeWorld } from "../rig/world.ts";

type ProbedWorld = Probed & { readonly world: World };

let probed: ProbedWorld;
beforeAll(async () => {
  const world = makeWorld("docker");
  probed = { world, ...(await probeByRun(world)) };
});
afterAll(() => {
  probed.world[Symbol.dispose]();
});

describe("an agent in a real container", () => {
  test("finds exactly the posture that was agreed", () => {
    expect(differences(probed.posture, probed.agreed)).toEqual([]);
  });

  test("sees of the host nothing but directories of its own run", () => {
    const { world, posture, runId } = probed;
    const fromHost = posture.mounts.map((mount) => mount.root).filter((root) => root !== "/");
    const own = `/state/guardloop/runs/${runId}/`;
    const engines =
      /\/(containers\/[0-9a-f]{64}\/(hosts|hostname|resolv\.conf)|\S*(tini|init)\S*)$/;
    const kept = /\/state\/guardloop\/layers\/[0-9a-f]{12}\/stores\/\d+\/base\.git$/;
    const others = fromHost.filter((root) => !root.includes(own) && !engines.test(root));
    expect(others.filter((root) => !kept.test(root))).toEqual([]);
    const all = JSON.stringify(posture);
    for (const secret of [world.repo, join(world.state, "worktrees"), "docker.sock", "s3cr3t"])
      expect(all).not.toContain(secret);
  });
});

/** Directories like a run's own, for containers that are started by hand with the recorded argv. */
function handMade(agreed: Agreed): string {
  const root = mkdtempSync(join(tmpdir(), "guardloop-posture-"));
  const { uid, gid } = agreed;
  for (const directory of ["workspace", "overlay-work", "outbox", "job", "base.git"])
    mkdirSync(join(root, directory));
  const files: Readonly<Record<string, string>> = {
    "job/passwd": `root:x:0:0:root:/:/sbin/nologin\nguardloop:x:${uid}:${gid}::/guardloop/home:/bin/sh\n`,
    "job/group": `root:x:0:\nguardloop:x:${gid}:\n`,
    "job/probe.mjs": bundledProbe(),
    "job/guest.cjs": "",
    "job/job.json": "",
    "job/prompt.md": "",
    "base.git/HEAD": "",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  // Everything belongs to the container's user, so that only the mount keeps it from writing.
  if (process.getuid?.() === 0)
    for (const name of ["", ...readdirSync(root, { recursive: true }).map(String)])
      chownSync(join(root, name), uid, gid);
  return root;
}

type Edit = (argv: readonly string[]) => readonly string[];

/** Runs the probe with the recorded argv, changed by `edit`, and says what differs from what was agreed. */
function byHand(edit: Edit): readonly string[] {
  const root = handMade(probed.agreed);
  try {
    const record = join(probed.world.state, "runs", probed.runId);
    const [program = "docker", ...args] = probed.argv;
    const end = args.indexOf("/guardloop/job/guest.cjs");
    const own = args
      .slice(0, end)
      .map((one) => one.replaceAll(`=${record}/`, `=${root}/`))
      .map((one) => one.replace(/source=[^,]*\/stores\/\d+\//, `source=${root}/`))
      .map((one) => (one.startsWith("--name=") ? `--name=guardloop-posture-${randomUUID()}` : one));
    const ended = spawnSync(program, [...edit(own), "/guardloop/job/probe.mjs"], {
      encoding: "utf8",
      timeout: 50_000,
    });
    if (ended.status !== 0) return [`did not start: ${ended.stderr}`];
    return differences(JSON.parse(ended.stdout) as Found, probed.agreed);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const without =
  (start: string): Edit =>
  (argv) => {
    const left = argv.filter((one) => !one.startsWith(start));
    if (left.length === argv.length) throw new Error(`the recorded argv has no ${start}`);
    return left;
  };
const replaced =
  (from: string | RegExp, to: string): Edit =>
  (argv) => {
    const changed = argv.map((one) => one.replace(from, to));
    if (changed.join(" ") === argv.join(" ")) throw new Error(`the recorded argv has no ${from}`);
    return changed;
  };
const withMore =
  (...more: readonly string[]): Edit =>
  ([verb = "run", ...rest]) => [verb, ...more, ...rest];
const writableMount = (target: string): Edit =>
  replaced(new RegExp(`(target=${target},.*),readonly`), "$1");

/** What is taken out or turned round, and the part of the posture that must show it. */
const TAKEN_OUT: readonly (readonly [flag: string, edit: Edit, shows: string])[] = [
  ["--init", without("--init"), "init"],
  ["--hostname", without("--hostname="), "hostname"],
  ["--user", without("--user="), "user"],
  ["--cap-drop", without("--cap-drop="), "capabilities"],
  ["--security-opt", without("--security-opt="), "no-new-privileges"],
  ["--pids-limit", without("--pids-limit="), "pids"],
  ["--memory", (argv) => without("--memory=")(without("--memory-swap=")(argv)), "memory"],
  ["--memory-swap", without("--memory-swap="), "swap"],
  ["--cpus", without("--cpus="), "cpus"],
  ["--ulimit", without("--ulimit=nofile"), "nofile"],
  ["--ulimit core", replaced("--ulimit=core=0:0", "--ulimit=core=-1:-1"), "core"],
  ["--oom-score-adj", without("--oom-score-adj="), "oom-score"],
  ["--read-only", without("--read-only"), "mounts"],
  ["--tmpfs /tmp", without("--tmpfs=/tmp"), "writable"],
  ["--tmpfs $HOME", without("--tmpfs=/guardloop/home"), "writable"],
  ["--tmpfs exec", replaced(/^(--tmpfs=\/tmp:rw),exec/, "$1"), "executable"],
  ["--tmpfs nosuid", replaced(/^(--tmpfs=\/tmp:.*),nosuid/, "$1,suid"), "mounts"],
  ["--tmpfs nodev", replaced(/^(--tmpfs=\/tmp:.*),nodev/, "$1,dev"), "mounts"],
  ["--tmpfs size", replaced(/^(--tmpfs=\/tmp:.*),size=\d+/, "$1"), "mounts"],
  ["--tmpfs uid", replaced(/^(--tmpfs=\/tmp:.*),uid=\d+,gid=\d+/, "$1"), "mounts"],
  ["--mount job readonly", writableMount("/guardloop/job"), "opening"],
  ["--mount base.git readonly", writableMount("/guardloop/base.git"), "writable"],
  ["--mount overlay nosuid", replaced(/^(--mount=type=volume.*),nosuid/, "$1"), "mounts"],
  ["--mount overlay nodev", replaced(/^(--mount=type=volume.*),nodev/, "$1"), "mounts"],
  ["--mount passwd readonly", writableMount("/etc/passwd"), "opening"],
  ["--mount group readonly", writableMount("/etc/group"), "opening"],
  ["--mount", without("--mount=type=bind,source="), "did not start"],
  ["--env", without("--env=TMPDIR="), "environment"],
  // Where the engine's default is what was agreed, the flag is turned round: the default can be configured.
  ["--network", replaced("none", "bridge"), "network"],
  ["--cgroupns", replaced("--cgroupns=private", "--cgroupns=host"), "cgroup-namespace"],
  ["--ipc", replaced("--ipc=private", "--ipc=host"), "ipc"],
];

const PUT_IN: readonly (readonly [flag: string, edit: Edit, shows: string])[] = [
  ["--privileged", withMore("--privileged"), "devices"],
  ["--security-opt seccomp=unconfined", withMore("--security-opt=seccomp=unconfined"), "seccomp"],
  ["--cap-add", withMore("--cap-add=NET_ADMIN"), "capabilities"],
  ["--pid host", withMore("--pid=host"), "processes"],
  ["--device", withMore("--device=/dev/null:/dev/extra"), "devices"],
  ["--group-add", withMore("--group-add=0"), "user"],
  ["an engine socket", withMore("--volume=/var/run/docker.sock:/var/run/docker.sock"), "sockets"],
  ["one more directory", withMore("--volume=/tmp:/host"), "mounts"],
  ["one more variable", withMore("--env=SECRET=1"), "environment"],
];

describe("the recorded argv, started by hand", () => {
  test("gives the same posture", () => {
    expect(byHand((argv) => argv)).toEqual([]);
  });

  test.each(TAKEN_OUT)("without %s the probe notices", (flag, edit, shows) => {
    if (flag === "--memory-swap" && probed.posture.cgroup.swap === "ENOENT") return;
    expect(byHand(edit).join("\n")).toMatch(new RegExp(`^${shows}(:|$)`, "m"));
  });

  test.each(PUT_IN)("with %s the probe notices", (_, edit, shows) => {
    expect(byHand(edit)).toContain(shows);
  });

  test("has no flag that was not tried, but those that cannot be seen from inside", () => {
    const unseen =
      /^--(rm|pull=never|name=.*|log-driver=.*|log-opt=.*|no-healthcheck|label=.*|workdir=.*|entrypoint=.*)$/;
    const tried = new Set(TAKEN_OUT.map(([flag]) => flag.split(" ")[0]));
    const flags = probed.argv.filter((one) => one.startsWith("--") && !unseen.test(one));
    expect(flags.filter((one) => !tried.has(one.split("=")[0] ?? ""))).toEqual([]);
  });
});

test("nothing of these tests is left", () => {
  expect(leftovers(probed.world)).toEqual([]);
  const names = execFileSync("docker", ["ps", "-a", "--format={{.Names}}"], { encoding: "utf8" });
  expect(names).not.toContain("guardloop-posture-");
});
