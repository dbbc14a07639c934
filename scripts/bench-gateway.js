// Usage: node scripts/bench-gateway.js [ROUNDS]
//
// Times streamed answers through the model gateway against the same ones over a direct connection, in turn, in one run on
// one machine: what counts is the difference. The upstream is a process of its own on loopback, the gateway is in this
// process as it is in a run, and the client is a third one. Build first: npm run build. Prints the table of
// docs/performance.md.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 200);
/** Not measured: what is compiled and connected by then. */
const WARM_UP = 30;

/** As agents see them: events of some hundred bytes for words, and one that holds a whole answer. */
const EVENT = `event: response.output_text.delta\ndata: ${JSON.stringify({
  type: "response.output_text.delta",
  item_id: "msg_0123456789",
  output_index: 0,
  delta: " word",
  obfuscation: "x".repeat(100),
})}\n\n`;
const USAGE = {
  input_tokens: 1000,
  output_tokens: 500,
  input_tokens_details: { cached_tokens: 0 },
};
const END = `event: response.completed\ndata: ${JSON.stringify({
  type: "response.completed",
  response: { usage: USAGE },
})}\n\n`;
const STREAMS = {
  "200 events, one a millisecond": { pieces: 200, piece: EVENT, pace: "paced" },
  "2,000 events at once": { pieces: 2000, piece: EVENT, pace: "full" },
  "one event of 2 MiB": {
    pieces: 1,
    piece: `data: ${"x".repeat(2 * 1024 ** 2)}\n\n`,
    pace: "full",
  },
};
const PROMPT = JSON.stringify({ model: "m", stream: true, input: "x".repeat(60_000) });

const ROLES = { upstream, client };
if (process.send === undefined) await main();
else await ROLES[process.argv[2]]();

/** Answers the stream that the model's name asks for, an event a write. */
async function upstream() {
  const server = createServer((incoming, response) => {
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", () => void answer(JSON.parse(Buffer.concat(chunks)), response));
  });
  server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
}

async function answer({ model }, response) {
  const { pieces, piece, pace } = STREAMS[model];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let index = 0; index < pieces; index += 1) {
    if (pace === "paced") await new Promise((resolve) => setTimeout(resolve, 1));
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end(END);
}

/** Does one request at a time, by the way it is told, and says how long it took. */
async function client() {
  const agents = new Map();
  process.on("message", ({ way, model }) => {
    const key = JSON.stringify(way);
    if (!agents.has(key)) agents.set(key, new Agent({ keepAlive: true }));
    const body = PROMPT.replace('"m"', JSON.stringify(model));
    const startedAt = performance.now();
    let firstByteMs;
    let bytes = 0;
    const headers = {
      host: "localhost",
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const options = {
      ...way,
      agent: agents.get(key),
      method: "POST",
      path: "/v1/responses",
      headers,
    };
    const sent = request(options, (response) => {
      response.on("data", (chunk) => {
        firstByteMs ??= performance.now() - startedAt;
        bytes += chunk.length;
      });
      response.on("end", () =>
        process.send({ firstByteMs, totalMs: performance.now() - startedAt, bytes }),
      );
    });
    sent.end(body);
  });
  process.send({ ready: true });
}

async function main() {
  const children = [];
  let gateway;
  const place = mkdtempSync(join(tmpdir(), "gg-"));
  try {
    const up = child("upstream", children);
    const { port } = await heard(up);
    const asker = child("client", children);
    await heard(asker);
    gateway = await openGateway(place, port);
    const ways = {
      direct: { host: "127.0.0.1", port },
      gateway: { socketPath: gateway.socketPath },
    };
    console.log(`Medians of ${ROUNDS} rounds, Node ${process.version}\n`);
    console.log(
      "| answer | measured | direct | gateway | difference |\n| --- | --- | --- | --- | --- |",
    );
    for (const model of Object.keys(STREAMS)) report(model, await measure(asker, ways, model));
  } finally {
    for (const one of children) one.kill();
    await gateway?.[Symbol.asyncDispose]();
    rmSync(place, { recursive: true, force: true });
  }
}

async function measure(asker, ways, model) {
  const times = { direct: [], gateway: [] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    // In turn, and each of them first as often, so that what else the machine does hits both.
    const names = round % 2 === 0 ? ["direct", "gateway"] : ["gateway", "direct"];
    for (const name of names) {
      asker.send({ way: ways[name], model });
      const time = await heard(asker);
      if (round >= 0) times[name].push(time);
    }
  }
  return times;
}

function report(model, { direct, gateway }) {
  const of = (times, what) => median(times.map(what));
  const first = [direct, gateway].map((times) => of(times, ({ firstByteMs }) => firstByteMs));
  const rate = [direct, gateway].map((times) =>
    of(times, ({ bytes, totalMs }) => bytes / 1024 ** 2 / (totalMs / 1000)),
  );
  const [a, b] = first;
  const [c, d] = rate;
  console.log(
    `| ${model} | first byte | ${a.toFixed(2)} ms | ${b.toFixed(2)} ms | ${(b - a).toFixed(2)} ms |`,
  );
  const slower = `${((d / c - 1) * 100).toFixed(0)} %`;
  console.log(`| ${model} | throughput | ${shown(c)} | ${shown(d)} | ${slower} |`);
}

async function openGateway(directory, port) {
  const { openModelGateway } = await import(join(ROOT, "dist/gateway/model-gateway.js"));
  const admitted = { used: () => null, withdrawn: () => undefined };
  const opened = await openModelGateway({
    spec: {
      provider: "openai",
      upstream: `http://127.0.0.1:${port}/v1`,
      serverTools: [],
      maxRequestBytes: 32 * 1024 ** 2,
    },
    directory,
    credential: {
      shown: "env:BENCH",
      value: async () => ({ ok: true, value: { kind: "key", secret: "bench", headers: {} } }),
      secrets: () => [],
    },
    meter: {
      admit: () => ({ ok: true, value: admitted }),
      sawLimit: () => undefined,
      exhausted: () => undefined,
    },
    sink: { add: () => undefined },
    proxy: { httpsProxy: undefined, httpProxy: undefined, noProxy: "", caFiles: [] },
  });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

function child(role, children) {
  const one = fork(fileURLToPath(import.meta.url), [role]);
  children.push(one);
  return one;
}

function heard(from) {
  return new Promise((resolve) => from.once("message", resolve));
}

function shown(mebibytes) {
  return mebibytes < 10
    ? `${(mebibytes * 1024).toFixed(0)} KiB/s`
    : `${mebibytes.toFixed(0)} MiB/s`;
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
