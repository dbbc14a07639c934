import { readFileSync, readdirSync } from "node:fs";
import { type Server, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type GuestRun, type RunOptions, type Stage, makeStage, runGuest } from "./rig.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** What stands for the gateway: a Unix socket that answers each connection with what came, once all of it has come. */
async function echo(stage: Stage): Promise<string> {
  const socket = join(stage.directory, "model.sock");
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    const chunks: Buffer[] = [];
    connection.on("error", () => connection.destroy());
    connection.on("data", (chunk: Buffer) => chunks.push(chunk));
    connection.on("end", () => connection.end(Buffer.concat(chunks)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return socket;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Sends text to a port, ends its side, and prints what comes back; tries for a while when nobody listens. */
const ASK = `
const { connect } = require("node:net");
const [, port, text] = process.argv;
(function ask(left) {
  let got = "";
  const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
  socket.on("connect", () => socket.end(text));
  socket.on("data", (chunk) => (got += chunk));
  socket.on("end", () => console.log("answer " + got.length + " " + got.slice(0, 40)));
  socket.on("error", (error) => (left > 0 ? setTimeout(ask, 50, left - 1) : console.log("no answer " + error.code)));
})(200);
`;

function withRelay(
  stage: Stage,
  relay: { readonly port: number; readonly socket: string },
  agent: string,
): Promise<GuestRun> {
  const script = `ask() { node -e '${ASK}' ${relay.port} "$1"; }\n${agent}\necho x > x`;
  const options: RunOptions = {
    job: {
      relays: [relay],
      agent: { ...stage.job.agent, argv: ["bash", "-e", "-c", script] },
    },
  };
  return runGuest(stage, options);
}

/** Processes whose command line holds a text. */
function processesWith(text: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

test("the agent reaches the socket by a port, each direction ends by itself, and nothing is left running", async () => {
  const stage = makeStage();
  const relay = { port: await freePort(), socket: await echo(stage) };

  const run = await withRelay(
    stage,
    relay,
    "ask hello; ask $(head -c 100000 /dev/zero | tr '\\0' a)",
  );

  expect(run.stdout).toContain("answer 5 hello");
  expect(run.stdout).toContain("answer 100000 aaaa");
  expect(run.manifest?.patches).toHaveLength(1);
  expect(processesWith(relay.socket)).toEqual([]);
});

test("a relay that the agent ends is started again, and it is said", async () => {
  const stage = makeStage();
  const relay = { port: await freePort(), socket: await echo(stage) };
  const agent = `
for round in 1 2; do
  pkill -KILL -f "[r]elay ${relay.port} ${relay.socket}"
  ask "round $round"
done`;

  const run = await withRelay(stage, relay, agent);

  expect(run.stdout).toContain("round 1");
  expect(run.stdout).toContain("round 2");
  expect(run.output).toContain(
    `guardloop guest: the relay on 127.0.0.1:${relay.port} has ended and is started again.`,
  );
  expect(run.manifest?.patches).toHaveLength(1);
});

test("more connections than there may be are turned away, and the others go on", async () => {
  const stage = makeStage();
  const relay = { port: await freePort(), socket: await echo(stage) };
  const agent = `node -e '
const { connect } = require("node:net");
const first = connect(${relay.port}, "127.0.0.1", others);
first.on("data", (bytes) => { console.log("first got " + bytes); process.exit(0); });
function others() {
  let turnedAway = 0;
  for (let number = 2; number <= 300; number += 1)
    connect(${relay.port}, "127.0.0.1").on("error", () => {}).on("close", () => {
      turnedAway += 1;
      if (turnedAway === 300 - 256) first.end("still here");
    });
}
'`;

  const run = await withRelay(stage, relay, agent);

  expect(run.stdout).toContain("first got still here");
});

test.each([
  ["a socket that is not there", "missing"],
  ["a port that is taken", "taken"],
] as const)("the guest refuses %s, in a sentence, and starts no agent", async (_what, wrong) => {
  const stage = makeStage();
  const socket = await echo(stage);
  const other = createServer();
  servers.push(other);
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const relay =
    wrong === "taken"
      ? { port, socket }
      : { port: await freePort(), socket: join(stage.directory, "none.sock") };

  const run = await withRelay(stage, relay, "echo agent was here");

  expect(run.code).toBe(70);
  expect(run.output).not.toContain("agent was here");
  expect(run.output).toMatch(
    wrong === "taken"
      ? /^guardloop guest: the relay on 127\.0\.0\.1:\d+ takes no connections: the port may be in use in this image\.\n$/
      : /^guardloop guest: the gateway's socket \S+none\.sock cannot be reached \(ENOENT\); a container in gVisor needs .*\n$/,
  );
  expect(processesWith(socket)).toEqual([]);
});

test("a slow reader is waited for: what it has not read is not heaped up in the relay", async () => {
  const stage = makeStage();
  const socket = join(stage.directory, "large.sock");
  const allBytes = 192 * 1024 * 1024;
  const server = createServer((connection) => {
    // The test of the connection, which sends nothing.
    connection.on("error", () => connection.destroy());
    connection.end(Buffer.alloc(allBytes));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const port = await freePort();
  const agent = `node -e '
const socket = require("node:net").connect(${port}, "127.0.0.1");
let bytes = 0;
socket.on("data", (chunk) => {
  bytes += chunk.length;
  socket.pause();
  setTimeout(() => socket.resume(), 1);
});
socket.on("end", () => console.log("read " + bytes));
'
grep VmHWM "/proc/$(pgrep -f "[r]elay ${port} ")/status"`;

  const run = await withRelay(stage, { port, socket }, agent);

  expect(run.stdout).toContain(`read ${allBytes}`);
  const most = Number(/VmHWM:\s+(\d+) kB/.exec(run.stdout)?.[1]) * 1024;
  expect(most).toBeLessThan(allBytes / 1.5);
});
