/**
 * Stands in front of `codex` and `claude` on PATH of the test image: `node in-front-of.mjs PROGRAM ARGS…` starts the scripted
 * model API at the program's base URL, then the real program, and exits as it did.
 *
 * SCRIPTED_MODEL is JSON: `steps` as in model-api.d.mts, and `mark`, a text to look for in the requests. Each request
 * becomes a line `model request: {…}` on standard error, without the credential: what else is written down then
 * comes from guardloop or the program. The program's way out is a proxy that refuses; each attempt becomes
 * a line `outside request: HOST`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startModelApi } from "./model-api.mjs";

const OWN_DIRECTORY = join(dirname(fileURLToPath(import.meta.url)), "bin");
const ACCESS = {
  codex: ["OPENAI_BASE_URL", "OPENAI_API_KEY"],
  claude: ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"],
};

const [program, ...args] = process.argv.slice(2);
const { steps, mark } = JSON.parse(process.env.SCRIPTED_MODEL);
const [baseUrl, key] = ACCESS[program].map((name) => process.env[name]);

await startModelApi({
  steps,
  port: Number(new URL(baseUrl).port),
  onRequest(seen) {
    const sent = seen.apiKey ?? seen.authorization?.replace(/^Bearer /, "");
    say("model request", {
      path: seen.path,
      model: seen.body?.model ?? null,
      credential: sent === undefined ? "none" : sent === key ? "as passed" : "another",
      mark: JSON.stringify(seen.body).includes(mark) ? "there" : "missing",
    });
  },
});

const proxy = `http://127.0.0.1:${await startRefusingProxy()}`;
const path = process.env.PATH.split(delimiter).filter((directory) => directory !== OWN_DIRECTORY);
const child = spawn(program, args, {
  stdio: ["ignore", "inherit", "inherit"],
  env: {
    ...process.env,
    PATH: path.join(delimiter),
    ...Object.fromEntries(
      ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, proxy]),
    ),
    no_proxy: "127.0.0.1",
    NO_PROXY: "127.0.0.1",
  },
});
child.on("error", (error) => {
  process.stderr.write(`${program} did not start: ${error.message}\n`);
  process.exit(127);
});
child.on("exit", (code) => process.exit(code ?? 1));

/** @returns the port. */
async function startRefusingProxy() {
  const server = createServer((request, response) => {
    say("outside request", request.url);
    response.writeHead(502).end();
  });
  server.on("connect", (request, socket) => {
    say("outside request", request.url);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
}

function say(what, value) {
  process.stderr.write(`${what}: ${JSON.stringify(value)}\n`);
}
