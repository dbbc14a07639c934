import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SEARCH_INSIDE, filesHolding, reversed } from "../rig/canary.ts";
import { ARTIFACTS, MARK_DONE } from "../rig/hosted-agent/whole-task.ts";
import { type ModelApi, type ModelStep, startModelApi } from "../rig/model-api/model-api.mjs";
import { type Ended, type World, makeWorld } from "../rig/world.ts";

/** Assembled here, so that no file of the repository holds it. */
const KEY = ["sk", "canary", "2f9b6c1e8d7a4053"].join("-");

/** How each program is told of the API, what carries its key, and where its requests go. */
const PROGRAMS = {
  codex: { provider: "openai", path: "/v1", variable: "OPENAI_API_KEY", key: "authorization" },
  claude: { provider: "anthropic", path: "", variable: "ANTHROPIC_API_KEY", key: "apiKey" },
  gemini: { provider: "gemini", path: "", variable: "GEMINI_API_KEY", key: "apiKey" },
  opencode: { provider: "openai", path: "/v1", variable: "OPENAI_API_KEY", key: "authorization" },
} as const;
type Program = keyof typeof PROGRAMS;

const SEARCH = Buffer.from(SEARCH_INSIDE).toString("base64");
const WHOLE_TASK: readonly ModelStep[] = [
  { say: "I read the plan.", run: "cat docs/TASKS.md" },
  { run: "echo again >> src/app.txt && echo one > one.txt" },
  { run: "test -s one.txt && ls /sys/class/net && echo tests passed" },
  // No text of the script itself: some programs refuse a command that holds a substitution.
  { run: `echo ${SEARCH} | base64 -d > "$TMPDIR/search" && sh "$TMPDIR/search" ${reversed(KEY)}` },
  { run: `${MARK_DONE} && git add -A && git commit -q -m "Add the first file"` },
  { run: ARTIFACTS },
  { say: "All done." },
];

function runThrough(
  world: World,
  program: Program,
  api: ModelApi,
  flags: readonly string[] = [],
): Promise<Ended> {
  const { provider, path, variable } = PROGRAMS[program];
  const url = `http://127.0.0.1:${api.port}${path}`;
  const fixed = ["--agent", program, "--network", "gateway", `--${provider}-url`, url];
  return world.guardloop(["run", ...fixed, ...flags], { env: { [variable]: KEY } });
}

describe.each(["codex", "claude", "gemini", "opencode"] as const)(
  "the published %s in a container without a network",
  (program) => {
    test("does a whole task through the gateway, and its key is nowhere but in the requests that leave", async () => {
      using world = makeWorld("docker");
      const api = await startModelApi({ steps: WHOLE_TASK });
      try {
        const ended = await runThrough(world, program, api);
        expect(ended.code === 0 ? "success" : `exit ${ended.code}: ${ended.stderr}`).toBe(
          "success",
        );
        const [run] = JSON.parse((await world.guardloop(["runs", "--json"])).stdout).runs;
        expect(world.git("diff", "--name-only", "main", run.branch).split("\n")).toEqual([
          "docs/TASKS.md",
          "one.txt",
          "src/app.txt",
        ]);
        // It committed by itself, under the identity that it was given.
        expect(world.git("log", "--format=%an|%s", `main..${run.branch}`)).toBe(
          "guardloop agent|Add the first file",
        );
        // The real key reached the upstream, and nothing else did.
        const { key } = PROGRAMS[program];
        expect(new Set(api.requests.map((one) => one[key]))).toEqual(
          new Set([key === "apiKey" ? KEY : `Bearer ${KEY}`]),
        );
        await expectNoTrace(world, run.id);
      } finally {
        await api.close();
      }
    });
  },
);

test("a value that is in the container is found by the search for it", async () => {
  using world = makeWorld("docker");
  const script = `set -- '${reversed(KEY)}'; ${SEARCH_INSIDE}`;
  await world.run(script, ["--pass-env", "CANARY"], { env: { CANARY: KEY } });
  expect((await world.guardloop(["logs", "@last"])).stdout).toContain("trace: /proc/");
});

/** In what the agent saw, in history, logs, artifacts, and what is exported. */
async function expectNoTrace(world: World, runId: string): Promise<void> {
  const log = (await world.guardloop(["logs", runId])).stdout;
  expect(log).toMatch(/looked: \d{2,}/);
  expect(log).not.toContain("trace: ");
  expect(log).toMatch(/\blo\b/);
  expect(log).not.toMatch(/\beth0\b/);
  expect(filesHolding(world.state, KEY)).toEqual([]);
  const archive = join(world.root, "run.tar.gz");
  await world.guardloop(["export", runId, "--output", archive]);
  expect(execFileSync("tar", ["-xzOf", archive]).includes(KEY)).toBe(false);
  const argv = JSON.parse(readFileSync(join(world.state, "runs", runId, "container.json"), "utf8"));
  expect(argv.argv.join(" ")).toContain("--network none");
}
