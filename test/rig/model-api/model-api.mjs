/**
 * A scripted model API: answers OpenAI Responses and Chat, Anthropic Messages and Gemini requests as server-sent
 * events, from a list of steps. Plain Node 18 without dependencies, one file for each API, so that it also runs inside a
 * container that has no network.
 *
 * Which step a request gets depends only on the request: the number of tool results it carries, and which of the answers
 * in words alone. So a client may repeat a request, or ask side questions without tools, without disturbing the script.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { chat } from "./chat.mjs";
import { gemini } from "./gemini.mjs";
import { messages } from "./messages.mjs";
import { responses } from "./responses.mjs";

const PROTOCOLS = [responses, messages, gemini, chat];

/** Most programs send the whole conversation with every request. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Shapes: see model-api.d.mts. */
export function startModelApi({ steps, port = 0, host = "127.0.0.1", onRequest = () => {} }) {
  const requests = [];
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  async function handle(request, response) {
    try {
      const seen = describe(request, await readBody(request));
      requests.push(seen);
      onRequest(seen);
      answer(response, seen, steps);
    } catch {
      response.destroy();
    }
  }
  // Programs that would rather have a WebSocket are told that there is none.
  server.on("upgrade", (request, socket) => {
    const seen = { ...describe(request, ""), upgrade: true };
    requests.push(seen);
    onRequest(seen);
    socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      resolve({
        port: server.address().port,
        url: `http://${host}:${server.address().port}`,
        requests,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}

function readBody(request) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let sizeBytes = 0;
    request.on("data", (chunk) => {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_BODY_BYTES) reject(new Error("body too large"));
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", reject);
  });
}

function describe(request, text) {
  const path = new URL(request.url, "http://model-api").pathname;
  return {
    method: request.method,
    path,
    // What the client proved itself with, so that a test can say which credential was used.
    authorization: request.headers.authorization ?? null,
    apiKey: request.headers["x-api-key"] ?? request.headers["x-goog-api-key"] ?? null,
    upgrade: false,
    body: parseJson(text),
  };
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function answer(response, seen, steps) {
  const isPost = seen.method === "POST" && seen.body !== null;
  const protocol = PROTOCOLS.find(({ serves }) => isPost && serves(seen.path));
  if (protocol !== undefined) speak(response, protocol, { seen, steps });
  else if (isPost && seen.path.endsWith("/messages/count_tokens"))
    sendJson(response, 200, { input_tokens: 1 });
  else if (isPost && seen.path.endsWith(":countTokens"))
    sendJson(response, 200, { totalTokens: 1 });
  else sendJson(response, 404, { error: { type: "not_found_error", message: "no such endpoint" } });
}

function speak(response, protocol, { seen, steps }) {
  const step = protocol.offersTools(seen.body)
    ? steps[Math.min(turnsIn(protocol, seen.body, steps), steps.length - 1)]
    : { say: "ok" };
  if (step.status !== undefined) {
    sendJson(
      response,
      step.status,
      protocol.error(step.say ?? "scripted failure", step.status),
      step.headers,
    );
    return;
  }
  // Leaves the request open until the client gives up or is ended.
  if (step.hang === true) return;
  const events = protocol.events(step, seen.body);
  const whole = protocol.whole?.(seen.path, events);
  if (whole !== undefined) {
    sendJson(response, 200, whole);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const frame = protocol.frame ?? asFrame;
  // The connection breaks when the first event is out, not before.
  if (step.cut === true) response.write(frame(events[0]), () => response.destroy());
  else response.end(events.map(frame).join(""));
}

/** How many steps have been answered: each gave a tool result, or its words alone. */
function turnsIn(protocol, body, steps) {
  const said = protocol.saidTexts(body).join("\n");
  const inWords = steps.filter(
    ({ say, run, write }) =>
      say !== undefined &&
      run === undefined &&
      write === undefined &&
      said.includes(JSON.stringify(say).slice(1, -1)),
  );
  return protocol.toolResults(body) + inWords.length;
}

function asFrame(event) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function sendJson(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/**
 * `node model-api.mjs --steps FILE [--port N] [--log FILE] [-- PROGRAM ARGS…]`: serves the steps until it
 * is ended, or until PROGRAM ends, and then exits as PROGRAM did. The log gets a request a line, as JSON.
 */
async function main(args) {
  const dashes = args.indexOf("--");
  const options = dashes < 0 ? args : args.slice(0, dashes);
  const program = dashes < 0 ? [] : args.slice(dashes + 1);
  const valueOf = (name) =>
    options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
  const log = valueOf("--log");
  const api = await startModelApi({
    steps: JSON.parse(readFileSync(valueOf("--steps"), "utf8")),
    port: Number(valueOf("--port") ?? 8080),
    onRequest: (seen) => log !== undefined && appendFileSync(log, `${JSON.stringify(seen)}\n`),
  });
  if (program.length === 0) return;
  const child = spawn(program[0], program.slice(1), { stdio: ["ignore", "inherit", "inherit"] });
  child.on("error", (error) => {
    process.stderr.write(`model-api: ${program[0]} did not start: ${error.message}\n`);
    process.exit(127);
  });
  child.on("exit", (code) => {
    void api.close();
    process.exit(code ?? 1);
  });
}

if (process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === import.meta.url)
  await main(process.argv.slice(2));
