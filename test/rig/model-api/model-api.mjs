/**
 * A scripted model API: answers OpenAI Responses and Anthropic Messages requests as server-sent
 * events, from a list of steps. Plain Node 18, one file, no dependencies, so that it also runs inside a
 * container that has no network.
 *
 * Which step a request gets depends only on the request: the number of tool results it carries. So a
 * client may repeat a request, or ask side questions without tools, without disturbing the script.
 */
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

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
    apiKey: request.headers["x-api-key"] ?? null,
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
  if (isPost && seen.path.endsWith("/responses")) speak(response, responses, { seen, steps });
  else if (isPost && seen.path.endsWith("/messages")) speak(response, messages, { seen, steps });
  else if (isPost && seen.path.endsWith("/messages/count_tokens"))
    sendJson(response, 200, { input_tokens: 1 });
  else sendJson(response, 404, { error: { type: "not_found_error", message: "no such endpoint" } });
}

function speak(response, protocol, { seen, steps }) {
  const step = protocol.offersTools(seen.body)
    ? steps[Math.min(protocol.toolResults(seen.body), steps.length - 1)]
    : { say: "ok" };
  if (step.status !== undefined) {
    sendJson(response, step.status, protocol.error(step.say ?? "scripted failure"));
    return;
  }
  // Leaves the request open until the client gives up or is ended.
  if (step.hang === true) return;
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const events = protocol.events(step, seen.body);
  // The connection breaks when the first event is out, not before.
  if (step.cut === true) response.write(asFrame(events[0]), () => response.destroy());
  else response.end(events.map(asFrame).join(""));
}

function asFrame(event) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function sendJson(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** OpenAI Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
const responses = {
  offersTools: (body) =>
    (Array.isArray(body.tools) && body.tools.length > 0) ||
    (Array.isArray(body.input) && body.input.some((item) => item.type === "additional_tools")),
  toolResults: (body) =>
    (Array.isArray(body.input) ? body.input : []).filter((item) =>
      String(item.type).endsWith("_call_output"),
    ).length,
  error: (message) => ({ error: { type: "invalid_request_error", code: null, message } }),
  events(step, body) {
    const number = responses.toolResults(body);
    const id = `resp_${number}`;
    const items = [];
    if (step.think !== undefined)
      items.push({
        type: "reasoning",
        id: `rs_${number}`,
        summary: [{ type: "summary_text", text: step.think }],
      });
    if (step.say !== undefined)
      items.push({
        type: "message",
        role: "assistant",
        id: `msg_${number}`,
        content: [{ type: "output_text", text: step.say }],
      });
    if (step.run !== undefined)
      items.push({
        type: "function_call",
        id: `fc_${number}`,
        call_id: `call_${number}`,
        name: "exec_command",
        arguments: JSON.stringify({ cmd: step.run }),
      });
    if (step.write !== undefined)
      items.push({
        type: "custom_tool_call",
        id: `ctc_${number}`,
        call_id: `call_${number}`,
        name: "apply_patch",
        input: patchThatAdds(step.write),
      });
    return [
      { type: "response.created", response: { id } },
      ...items.map((item, index) => ({
        type: "response.output_item.done",
        output_index: index,
        item,
      })),
      {
        type: "response.completed",
        response: {
          id,
          usage: {
            input_tokens: 100,
            input_tokens_details: { cached_tokens: 40 },
            output_tokens: 10,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 110,
          },
        },
      },
    ];
  },
};

function patchThatAdds({ path, content }) {
  const lines = content.replace(/\n$/, "").split("\n");
  return [
    "*** Begin Patch",
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    "*** End Patch",
    "",
  ].join("\n");
}

/** Anthropic Messages: https://docs.anthropic.com/en/api/messages-streaming */
const messages = {
  offersTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  toolResults: (body) =>
    (Array.isArray(body.messages) ? body.messages : [])
      .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
      .filter((block) => block.type === "tool_result").length,
  error: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  events(step, body) {
    const number = messages.toolResults(body);
    const blocks = [];
    if (step.think !== undefined)
      blocks.push({
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          { type: "thinking_delta", thinking: step.think },
          { type: "signature_delta", signature: "c2NyaXB0ZWQ=" },
        ],
      });
    if (step.say !== undefined)
      blocks.push({
        start: { type: "text", text: "" },
        deltas: [{ type: "text_delta", text: step.say }],
      });
    if (step.run !== undefined)
      blocks.push(toolUse(number, "Bash", { command: step.run, description: "scripted step" }));
    if (step.write !== undefined)
      blocks.push(
        toolUse(number, "Write", { file_path: step.write.path, content: step.write.content }),
      );
    const usesTool = step.run !== undefined || step.write !== undefined;
    return [
      {
        type: "message_start",
        message: {
          id: `msg_${number}`,
          type: "message",
          role: "assistant",
          model: body.model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: 1 },
        },
      },
      ...blocks.flatMap(blockEvents),
      {
        type: "message_delta",
        delta: { stop_reason: usesTool ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: 10 },
      },
      { type: "message_stop" },
    ];
  },
};

function blockEvents({ start, deltas }, index) {
  const parts = deltas.map((delta) => ({ type: "content_block_delta", index, delta }));
  return [
    { type: "content_block_start", index, content_block: start },
    ...parts,
    { type: "content_block_stop", index },
  ];
}

function toolUse(number, name, input) {
  return {
    start: { type: "tool_use", id: `toolu_${number}`, name, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
  };
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
