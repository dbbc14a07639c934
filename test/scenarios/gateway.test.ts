import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { filesHolding, processesHolding } from "../rig/canary.ts";
import { type Upstream, sayOpenai, startUpstream } from "../rig/upstream.ts";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";

const KEY = "sk-canary-7f3a91c2d4e5b6a7";

/** Asks the model as often as it is told, and prints each status. */
function asking(
  times: number,
  body: object = { model: "gpt-x", input: "hello", stream: true },
): string {
  return `
for i in $(seq ${times}); do
  node -e '
    fetch(process.env.OPENAI_BASE_URL + "/responses", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + process.env.OPENAI_API_KEY },
      body: process.argv[1],
    }).then(async (r) => { console.log("status " + r.status + " " + (await r.text()).replaceAll("\\n", " ")); })
      .catch((e) => console.log("no answer: " + (e.cause?.code ?? e.message)));
  ' '${JSON.stringify(body)}'
done
`;
}

interface GatewayCall {
  readonly flags?: readonly string[];
  readonly onStart?: (pid: number) => void;
}

function throughGateway(world: World, script: string, url: string, call: GatewayCall = {}) {
  const { flags = [], onStart = () => undefined } = call;
  const fixed = ["--network", "gateway", "--provider", "openai", "--openai-url", `${url}/v1`];
  return world.run(script, [...fixed, ...flags], { env: { OPENAI_API_KEY: KEY }, onStart });
}

describe("a run whose agent reaches its model through the gateway", () => {
  test("the agent gets an answer, the upstream gets the real key, and the container never has it", async () => {
    using world = makeWorld();
    let seen: readonly string[] | undefined;
    let guardloop = 0;
    await using api = await startUpstream((_, response) => {
      // Its own environment is where the user put the key; nothing that it starts has it.
      seen = processesHolding(KEY, new Set([guardloop]));
      sayOpenai(response);
    });
    const script = `env; ${asking(1)} ${GOOD_AGENT}`;
    const ended = await throughGateway(world, script, api.url, {
      onStart: (pid) => (guardloop = pid),
    });
    expect(seen).toEqual([]);
    expect(ended.stderr).toContain("ready");
    expect(ended.code).toBe(0);
    expect(api.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "POST /v1/responses",
    ]);
    expect(api.requests[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    expect((await world.guardloop(["logs", "@last"])).stdout).toMatch(/status 200 .*Done\./);
    expect(filesHolding(world.state, KEY)).toEqual([]);
    const calls = JSON.stringify(world.dockerCalls());
    expect(calls).not.toContain(KEY);
    expect(calls).toContain('"--network","none"');
  });

  test("each request stands in the record, in show and in the log of requests", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) =>
      sayOpenai(response, { input: 1200, output: 34 }),
    );
    await throughGateway(world, `${asking(2)} ${GOOD_AGENT}`, api.url);
    const shown = await world.guardloop(["show", "@last"]);
    expect(shown.stdout).toMatch(/Gateway +2 requests, 2,400 tokens in, 68 out to http:\/\/127/);
    const json = JSON.parse((await world.guardloop(["show", "@last", "--json"])).stdout);
    expect(json.egress).toMatchObject({ requests: 2, refused: 0, inputTokens: 2400 });
    const log = await world.guardloop(["logs", "@last", "--egress"]);
    expect(log.stdout).toMatch(/200 +POST 127\.0\.0\.1:\d+\/v1\/responses/);
    const lines = await world.guardloop(["logs", "@last", "--egress", "--json"]);
    const [first] = lines.stdout.trim().split("\n");
    expect(JSON.parse(first!).egress).toMatchObject({
      kind: "model",
      phase: "agent",
      method: "POST",
      status: 200,
      outcome: "answered",
      model: "gpt-x",
      tokens: { input: 1200, output: 34, counted: "reported" },
    });
  });

  test("what is not the model API is refused with a sentence, told, and found by the review", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) => sayOpenai(response));
    const upload = `node -e 'fetch(process.env.OPENAI_BASE_URL + "/files", {method: "POST", body: "x"}).then(async (r) => console.log(r.status, await r.text()))'`;
    const ended = await throughGateway(world, `${upload}\n${GOOD_AGENT}`, api.url);
    expect(ended.code).toBe(0);
    expect(api.requests).toEqual([]);
    expect(ended.stderr).toMatch(/gateway +refused a request: /);
    expect((await world.guardloop(["logs", "@last"])).stdout).toMatch(/^403 .*gateway/m);
    const findings = await world.guardloop(["review", "@last", "--findings"]);
    expect(findings.stdout).toMatch(
      /info +egress-refused +The gateway refused 1 request of the agent: /,
    );
  });

  test("a used-up budget ends the agent, says which, and what was done is salvaged", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) => sayOpenai(response));
    const script = `echo half > half.txt; ${asking(3)} sleep 60`;
    const ended = await throughGateway(world, script, api.url, {
      flags: ["--budget-requests", "2"],
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(
      "The budget of 2 requests for this run is used up (budget.requests).",
    );
    expect(ended.stderr).toContain("[budget-exhausted]");
    expect(api.requests).toHaveLength(2);
    expect((await world.guardloop(["show", "@last"])).stdout).toContain("guardloop salvage");
  });

  test("a refused credential is named as the cause where the agent left nothing", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end('{"error":{"message":"bad key"}}');
    });
    const ended = await throughGateway(world, asking(1), api.url);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("refused the credential (status 401)");
    expect(ended.stderr).toContain("[model-unauthenticated]");
  });

  test("without its credential no run begins, and no word of it is in the message", async () => {
    using world = makeWorld();
    const flags = ["--network", "gateway", "--provider", "openai"];
    const ended = await world.run(GOOD_AGENT, flags);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("env:OPENAI_API_KEY");
    expect(ended.stderr).toContain("[credential-missing]");
    expect(existsSync(join(world.state, "runs"))).toBe(false);
  });

  test("with the run its socket is gone", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) => sayOpenai(response));
    await throughGateway(world, `${asking(1)} ${GOOD_AGENT}`, api.url);
    const socket = socketOf(world);
    expect(existsSync(socket)).toBe(false);
    expect(existsSync(join(socket, ".."))).toBe(false);
  });
});

describe("what a model API that limits its use does to a run", () => {
  /** Asks once, then says nothing for longer than it may. */
  const SILENT = `${asking(1)} sleep 6; ${GOOD_AGENT}`;
  const IMPATIENT = ["--idle-minutes", "0.05"];

  function limiting(): Promise<Upstream> {
    return startUpstream((_, response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "8" });
      response.end('{"error":{"message":"slow down"}}');
    });
  }

  test("the answer is passed on and told, and the silence that follows ends the agent", async () => {
    using world = makeWorld();
    await using api = await limiting();
    const ended = await throughGateway(world, SILENT, api.url, { flags: IMPATIENT });
    expect(ended.stderr).toMatch(/gateway +127\.0\.0\.1:\d+ limits how much may be asked \(429\)/);
    expect(ended.stderr).toContain("[agent-idle-limit]");
    expect((await world.guardloop(["show", "@last"])).stdout).toContain("1 limited");
  });

  test("with --wait-for-limit the clocks stand still until the limit is over", async () => {
    using world = makeWorld();
    await using api = await limiting();
    const flags = [...IMPATIENT, "--wait-for-limit"];
    const ended = await throughGateway(world, SILENT, api.url, { flags });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("ready");
  });

  test("a budget of all runs together ends the series, and no further run begins", async () => {
    using world = makeWorld();
    await using api = await startUpstream((_, response) => sayOpenai(response));
    const flags = ["--max-tasks", "2", "--keep-going", "--budget-all-requests", "1"];
    const ended = await throughGateway(world, `${asking(1)} ${GOOD_AGENT}`, api.url, { flags });
    expect(ended.stdout).toContain(
      "The budget of 1 requests for all runs together is used up (budget.all_requests).",
    );
    expect(readdirSync(join(world.state, "runs"))).toHaveLength(1);
    expect(api.requests).toHaveLength(1);
  });
});

test("a run whose process was killed leaves no socket, and its agent is not adopted without its gateway", async () => {
  using world = makeWorld();
  await using api = await startUpstream((_, response) => sayOpenai(response));
  const begun = join(world.root, "begun");
  let guardloop = 0;
  const killed = throughGateway(world, `touch ${begun}; sleep 60`, api.url, {
    onStart: (pid) => (guardloop = pid),
  });
  await vi.waitFor(() => expect(existsSync(begun)).toBe(true), { timeout: 60_000 });
  const socket = socketOf(world);
  expect(existsSync(socket)).toBe(true);
  process.kill(guardloop, "SIGKILL");
  await killed;
  const recovered = await world.guardloop(["recover", "--orphans", "adopt"]);
  expect(recovered.stdout + recovered.stderr).toMatch(/was ended: its owner died/);
  expect(existsSync(join(socket, ".."))).toBe(false);
  expect((await world.guardloop(["runs"])).stdout).toContain("interrupted");
});

function socketOf(world: World): string {
  const file = join(world.state, "runs", idOf(world), "container.json");
  const argv = JSON.parse(readFileSync(file, "utf8")).argv.join("\n");
  const [, socket = ""] = /source=([^,\n]*model\.sock)/.exec(argv) ?? [];
  expect(socket).not.toBe("");
  return socket;
}

function idOf(world: World): string {
  return readdirSync(join(world.state, "runs"))[0]!;
}
