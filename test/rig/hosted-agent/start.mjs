/**
 * Stands in front of `codex` and `claude` on PATH of the test image: `node start.mjs PROGRAM ARGS…` starts the scripted
 * model API on the port of the program's base URL, then the real program, and exits as it did.
 *
 * SCRIPTED_MODEL is JSON: `steps` as in model-api.d.mts, and `mark`, a text to look for in the requests. Each request
 * becomes one line on standard error. The credential's value is never in it: a test can then tell who wrote it down.
 */
import { spawn } from "node:child_process";
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
    const line = {
      path: seen.path,
      model: seen.body?.model ?? null,
      credential: sent === undefined ? "none" : sent === key ? "as passed" : "another",
      mark: JSON.stringify(seen.body).includes(mark),
    };
    process.stderr.write(`model request: ${JSON.stringify(line)}\n`);
  },
});

const path = process.env.PATH.split(delimiter).filter((directory) => directory !== OWN_DIRECTORY);
const child = spawn(program, args, {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, PATH: path.join(delimiter) },
});
child.on("error", (error) => {
  process.stderr.write(`${program} did not start: ${error.message}\n`);
  process.exit(127);
});
child.on("exit", (code) => process.exit(code ?? 1));
