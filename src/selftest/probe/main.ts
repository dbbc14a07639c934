import { readdirSync, writeFileSync } from "node:fs";
import { hostname, tmpdir, userInfo } from "node:os";
import { executable, mounts, opening, sockets, unmasked, writable } from "./files.ts";
import type { Found, Targets } from "./found.ts";
import { cgroup, limits } from "./limits.ts";
import { network } from "./network.ts";
import { ofTheHost } from "./of-the-host.ts";
import { privileged } from "./privileged.ts";
import { read } from "./read.ts";
import { setuid } from "./setuid.ts";

// Runs inside a container, bundled into one file, as the agent: node probe.mjs [RESULT] [TARGETS]. It looks at what
// a process can do there, by doing it. TARGETS is JSON. Nothing it does harms whatever it is run on: where the
// boundary is missing, that is the host.

const NO_TARGETS: Targets = { addresses: [], names: [], variable: "", file: "" };

function status(): Record<string, string> {
  const wanted = /^(Cap\w+|NoNewPrivs|Seccomp):\s+(\S+)$/gm;
  return Object.fromEntries(
    [...read("/proc/self/status").matchAll(wanted)].map(([, key, value]) => [key, value]),
  );
}

function processes(): readonly string[] {
  const own = String(process.pid);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== own)
    .map((pid) => read(`/proc/${pid}/comm`));
}

async function probe(targets: Targets): Promise<Found> {
  // oxlint-disable-next-line node/no-process-env -- what is in it is the question
  const { env } = process;
  const { uid, gid, username } = userInfo();
  return {
    uid,
    gid,
    groups: process.getgroups?.() ?? [],
    userName: username,
    hostname: hostname(),
    status: status(),
    firstProcess: read("/proc/1/comm"),
    processes: processes(),
    ...(await network(targets)),
    limits: limits(),
    cgroup: cgroup(),
    cgroupPaths: read("/proc/self/cgroup").split("\n"),
    oomScoreAdj: read("/proc/self/oom_score_adj"),
    writable: writable("/"),
    opening: opening(),
    unmasked: unmasked(),
    privileged: privileged(),
    executable: Object.fromEntries(
      [process.cwd(), tmpdir(), env.HOME ?? "/"].map((path) => [path, executable(path)]),
    ),
    mounts: mounts(),
    devices: readdirSync("/dev").toSorted(),
    environment: Object.fromEntries(
      Object.entries(env).map(([name, value]) => [name, value ?? ""]),
    ),
    sockets: sockets(),
    ofTheHost: ofTheHost(targets),
    // Last: its helpers would count as processes for a moment.
    setuid: await setuid(),
  };
}

const [, , result, targets] = process.argv;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- guardloop wrote it
const wanted = targets === undefined ? NO_TARGETS : (JSON.parse(targets) as Targets);
const text = `${JSON.stringify(await probe(wanted), null, 1)}\n`;
if (result === undefined) process.stdout.write(text);
else writeFileSync(result, text);
