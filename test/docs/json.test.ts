import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/core/events.ts";
import { sayOpenai, startUpstream } from "../rig/upstream.ts";
import { stageOfPrograms } from "../image/scripted-programs.ts";
import {
  fullFiles,
  type World,
  FINISH,
  GOOD_AGENT,
  installAgent,
  installProgram,
  makeWorld,
} from "../rig/world.ts";
import { codesIn, readDocument, tablesOf } from "./documents.ts";
import { pathsIn, promisedBy, shapeOf } from "./json-shape.ts";

const document = readDocument("docs/json.md");
const tables = tablesOf(document).filter((table) => table.head[0] === "key");

/** Everything that was printed, by the section of the document that describes it. */
const printed = new Map<string, Record<string, unknown>[]>();

function keep(section: string, stdout: string): void {
  for (const line of stdout.split("\n").filter((one) => one !== "")) {
    const value = JSON.parse(line) as Record<string, unknown>;
    const where =
      "error" in value ? "Failure" : section === "guardloop run" ? String(value["type"]) : section;
    printed.set(where, [...(printed.get(where) ?? []), value]);
  }
}

/** Calls a command with --json and keeps what it prints under its section. */
async function call(world: World, command: string, env: Record<string, string> = {}) {
  const words = command.split(" ");
  const section = `guardloop ${words[0] ?? ""}`;
  const ended = await world.guardloop([...words, "--json"], { env });
  keep(section, ended.stdout);
}

async function run(world: World, script: string, flags: readonly string[] = []) {
  const ended = await world.run(script, ["--json", ...flags]);
  keep("guardloop run", ended.stdout);
}

const world = makeWorld();

beforeAll(async () => {
  await setUp();
  await decisions();
  await failures();
  await whileItRuns();
  await selftest();
  await image();
  await keepingHouse();
}, 600_000);

afterAll(() => world[Symbol.dispose]());

async function setUp(): Promise<void> {
  await call(world, "doctor");
  await call(world, "trust");
  await call(world, "init");
  await call(world, "init");
  world.write(
    "docs/TASKS.md",
    "# Plan\n\n## T1 — One\n\nStatus: ready\n\nCompletion signal:\n- one\n\n## T2 — Two\n\nStatus: ready\n\nDependencies:\n- T1\n\n## T3 — Three\n\nStatus: someday\n",
  );
  await call(world, "doctor");
  world.write(".gitignore", "*.cache\n");
  world.write("kept-out.cache", "cached\n");
  world.commit("A plan");
  for (const command of ["doctor", "tasks", "trust", "recover", "runs", "show none"])
    await call(world, command);
  await call(world, "notify --notify-command true --notify-url http://127.0.0.1:9/");
  await call(world, "config", { GUARD_MEMORY: "2g" });
  await explaining();
}

/** With nothing opened, and with everything. */
async function explaining(): Promise<void> {
  await call(world, "explain");
  world.write(".env", "TOKEN=1\n");
  world.write("local.txt", "notes\n");
  const budgets = ["", "all-"].flatMap((of) =>
    ["requests", "input-tokens", "output-tokens", "usd"].map((what) => `--budget-${of}${what} 1`),
  );
  const opened = "--overlay ** --setup true --pass-env PATH --disk 20g --files 2000000";
  await call(world, `explain --agent codex --network gateway ${opened} ${budgets.join(" ")}`);
  rmSync(join(world.repo, ".env"));
  rmSync(join(world.repo, "local.txt"));
}

/** Two runs in a stack with findings, a link and validations, then every decision about them. */
async function decisions(): Promise<void> {
  world.faults({ cpus: 2 });
  const script = `ln -s one.txt "link-$$"; echo said; ${GOOD_AGENT}`;
  await run(world, script, [
    "--max-tasks",
    "2",
    "--validate",
    "ok: true",
    "--lower",
    "symlink: info",
  ]);
  await call(world, "logs @last");
  await call(world, "review @last");
  await call(world, "show @last");
  const listed = JSON.parse((await world.guardloop(["runs", "--json"])).stdout);
  const first = String(listed.runs[1].id);
  await call(world, `review ${first}`);
  const archive = join(world.root, "run.tar.gz");
  await call(world, `export ${first} --output ${archive}`);
  await call(world, `verify ${archive}`);
  for (const verb of ["promote", "rollback", "restore", "discard", "restore"]) {
    await call(world, `${verb} ${first}`);
    await call(world, `show ${first}`);
  }
  await call(world, `promote ${first} --dry-run`);
  world.git("commit", "-q", "--allow-empty", "-m", "Meanwhile");
  await call(world, `promote ${first} --rebase --dry-run`);
  world.git("reset", "-q", "--hard", "HEAD~1");
  await call(world, `promote ${first} --without-validation because`);
  await call(world, `show ${first}`);
  world.git("branch", "agent/by-hand");
  await call(world, "branches");
  await call(world, `discard ${String(listed.runs[0].id)}`);
  await call(world, "branches --prune --dry-run --branch-days 0");
  await call(world, "branches --prune --branch-days 0");
  await call(world, `show ${first}`);
  world.git("branch", "-D", "agent/by-hand");
  world.write("guardloop.toml", '[validate]\ncommands = ["bad: false", "later: true"]\n');
  world.commit("Validate");
  await call(world, `validate ${first}`);
  await call(world, `review ${first}`);
  await call(world, `show ${first}`);
}

/** An agent that tells its version, and more than its log may hold. */
async function hostedRun(): Promise<void> {
  const talks = `awk 'BEGIN { for (i = 0; i < 40000; i++) print "a line of some length, again and again" }'`;
  installAgent(world, "codex", talks);
  const flags = ["--agent", "codex", "--network", "bridge", "--log-size", "1m"];
  const ended = await world.guardloop(["run", "--json", ...flags]);
  keep("guardloop run", ended.stdout);
  await call(world, "show @last");
}

async function failures(): Promise<void> {
  world.git("rm", "-q", "--ignore-unmatch", "guardloop.toml");
  world.write("docs/TASKS.md", "# Plan\n\n## T1 — One\n\nStatus: ready\n");
  world.commit("Again");
  await hostedRun();
  Object.assign(world.env, fullFiles(String.raw`/agent\.log$`));
  await run(world, "echo T9 > $GUARDLOOP_ARTIFACTS/selected-task-id.txt; echo x > x.txt");
  for (const name of ["NODE_OPTIONS", "FULL_FILES"]) delete world.env[name];
  await call(world, "show @last");
  await call(world, "compare @last");
  await call(world, "salvage @last --task T1 --message Half");
  world.faults({ runRefused: true });
  await run(world, "true");
  await call(world, "show @last");
  await call(world, "doctor");
  world.faults({});
  installProgram("treehouse.js", join(world.bin, "treehouse"));
  writeFileSync(join(world.bin, "treehouse.faults.json"), JSON.stringify({ exit3: true }));
  await run(world, `${FINISH} echo y > y.txt`, ["--lease", "treehouse"]);
  await call(world, "show @last");
  writeFileSync(join(world.bin, "treehouse.faults.json"), "{}");
  await call(world, "runs");
  await call(world, "review @last");
  symlinkSync("nowhere", join(world.repo, "untracked-link"));
  await call(world, "promote @last");
  await call(world, "run --agent codex");
}

/** What the commands print while a run goes on, and how it looks when it is interrupted. */
async function whileItRuns(): Promise<void> {
  world.git("clean", "-fdq");
  const started = join(world.root, "started");
  await attempts();
  await watchedRun();
  const ended = world.run(`touch ${started}; sleep 60`, ["--json", "--lease", "builtin"]);
  while (!existsSync(started)) await delay(50);
  await call(world, "runs");
  await call(world, "show @last");
  await call(world, "compare @last");
  const watching = call(world, "watch");
  await call(world, "stop @last");
  keep("guardloop run", (await ended).stdout);
  await watching;
  await adoptedRun();
  await showOldRecords();
}

/** Attempts, of an agent that says what it cost. */
async function attempts(): Promise<void> {
  const told = `{"type":"result","subtype":"success","total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":7}}`;
  installAgent(world, "claude", `${GOOD_AGENT}\necho '${told}'`);
  const args = ["run", "--agent", "claude", "--network", "bridge", "--lease", "builtin"];
  const ended = await world.guardloop([...args, "--attempts", "2", "--json"]);
  keep("guardloop run", ended.stdout);
  await call(world, "compare");
}

/** A run whose process is killed while its agent works, and that the next one adopts. */
async function adoptedRun(): Promise<void> {
  const wait = join(world.root, "wait");
  const begun = join(world.root, "begun-again");
  writeFileSync(wait, "");
  let pid = 0;
  const killed = world.run(
    `touch ${begun}; while [ -e ${wait} ]; do sleep 0.1; done; ${GOOD_AGENT}`,
    ["--lease", "builtin"],
    { onStart: (id) => (pid = id) },
  );
  while (!existsSync(begun)) await delay(50);
  process.kill(pid, "SIGKILL");
  await killed;
  rmSync(wait);
  await run(world, "true", ["--lease", "builtin", "--orphans", "adopt"]);
}

/** Asks a model once for each body, and gives up on an answer that does not come. */
const ASKS = `
for body in "$@"; do
  BODY="$body" node -e '
    const { OPENAI_BASE_URL: url, BODY: body } = process.env;
    const headers = { "content-type": "application/json" };
    const signal = AbortSignal.timeout(body.includes("slow") ? 500 : 60_000);
    fetch(url + "/responses", { method: "POST", body, headers, signal })
      .then((answer) => answer.text()).catch(() => {});
  '
done
`;
const BODIES = ["gpt-priced", "gpt-free", "slow"].map((model) =>
  JSON.stringify({ model, input: "hello", ...(model === "gpt-free" ? { background: true } : {}) }),
);

/** The flags and variables of a run whose agent reaches a model that a test plays. */
async function throughGateway() {
  const configDir = join(world.root, "config", "guardloop");
  mkdirSync(configDir, { recursive: true });
  writeFileSync(join(configDir, "prices.toml"), '["gpt-priced"]\ninput = 1\noutput = 2\n');
  const api = await startUpstream(({ body }, response) => {
    if (!body.includes("slow")) sayOpenai(response);
  });
  const flags = ["--network", "gateway", "--provider", "openai", "--openai-url", `${api.url}/v1`];
  return { api, flags, env: { OPENAI_API_KEY: "sk-of-a-test-4711-0815" } };
}

/** A run that is let go when its watcher has seen all there is to see. */
async function watchedRun(): Promise<void> {
  const { api, flags, env } = await throughGateway();
  await using _ = api;
  const wait = join(world.root, "wait");
  const begun = join(world.root, "begun");
  writeFileSync(wait, "");
  const looks = looksAt(world);
  // One has no price, and comes when the others have been looked at.
  const [first, second, last] = BODIES.map((body) => `'${body}'`);
  const asks = `set -- ${first} ${second}\n${ASKS}`;
  const asksLast = `set -- ${last}\n${ASKS}`;
  const ended = world.run(
    `echo said; ${asks} touch half ${begun}; while [ -e ${wait} ]; do sleep 0.1; done; ${asksLast} sleep 2; ${GOOD_AGENT}`,
    ["--lease", "builtin", "--json", ...flags],
    { env },
  );
  while (!existsSync(begun)) await delay(50);
  // The run itself looks at its container from time to time: that becomes its peaks.
  while (looksAt(world) === looks) await delay(50);
  let seen = "";
  const watching = world.guardloop(["watch", "--json"], { onStdout: (text) => (seen += text) });
  while (!/"container":\{.*"files":\{/.test(seen)) await delay(50);
  await call(world, "show @last");
  rmSync(wait);
  keep("guardloop watch", (await watching).stdout);
  keep("guardloop run", (await ended).stdout);
  keep("logs --egress", (await world.guardloop(["logs", "@last", "--egress", "--json"])).stdout);
  await call(world, "show @last");
  await call(world, "compare @last");
}

/** How often somebody asked what a container uses. */
function looksAt({ dockerCalls }: World): number {
  return dockerCalls().filter(({ argv }) => argv[0] === "stats").length;
}

/** A record of 0.1, which kept less of the engine, and one that cannot be read. */
async function showOldRecords(): Promise<void> {
  const listed = JSON.parse((await world.guardloop(["runs", "--json"])).stdout);
  const specFile = join(world.state, "runs", String(listed.runs[0].id), "spec.json");
  const spec = JSON.parse(readFileSync(specFile, "utf8"));
  const { kind, version } = spec.engine;
  writeFileSync(specFile, JSON.stringify({ ...spec, engine: { kind, version } }));
  await call(world, "show @last");
  rmSync(specFile);
  rmSync(join(world.state, "runs", String(listed.runs[0].id), "snapshot-manifest.json"));
  await call(world, "show @last");
}

/** One that holds, one that does not on an engine that isolates nothing, and what is there to try. */
async function selftest(): Promise<void> {
  await call(world, "selftest --only task-id-missing");
  await call(world, "selftest --only capabilities");
  await call(world, "selftest --list");
}

async function image(): Promise<void> {
  await using stage = await stageOfPrograms();
  await stage.set("registry");
  const env = {
    PATH: `${stage.stage}/bin:${world.env["PATH"] ?? ""}`,
    XDG_STATE_HOME: stage.stage,
  };
  const ended = await world.guardloop(["image", "build", "--json"], { env });
  keep("guardloop image build", ended.stdout);
}

/** Everything that may go, and things of every kind that stay. */
async function keepingHouse(): Promise<void> {
  world.git("reset", "-q", "--hard");
  world.git("clean", "-fdq");
  mkdirSync(join(world.state, "trash/left"), { recursive: true });
  const gone = join(world.state, "worktrees/0123456789ab/1");
  mkdirSync(join(gone, ".lease"), { recursive: true });
  mkdirSync(join(world.state, "worktrees/0123456789ab/treehouse"));
  const owner = { pid: 1, startTime: "", bootId: "", host: hostname() };
  writeFileSync(join(world.state, "locks/dead"), JSON.stringify(owner));
  mkdirSync(join(gone, "shop"));
  writeFileSync(join(gone, "shop/.git"), "gitdir: /nowhere/shop/.git/worktrees/shop\n");
  const pools = readdirSync(join(world.state, "worktrees"));
  const pool = pools.find((one) => one !== "0123456789ab") ?? "";
  const [slot = ""] = readdirSync(join(world.state, "worktrees", pool));
  writeFileSync(join(world.state, "worktrees", pool, slot, "shop/mine.txt"), "mine");
  const days = "--branch-days 0 --record-days 0 --pool-days 0";
  await call(world, `gc ${days}`);
  const done = await world.guardloop(["gc", "--yes", "--json", ...days.split(" ")]);
  keep("guardloop gc", done.stdout);
  const { items } = JSON.parse(done.stdout) as { items: { kind: string; run: string }[] };
  const removed = items.find(({ kind }) => kind === "record");
  await call(world, `show ${String(removed?.run)}`);
  chmodSync(world.state, 0o755);
  await call(world, "doctor");
  await call(world, "doctor --fix");
}

describe("docs/json.md", () => {
  test("has a section for every command, and for nothing else", async () => {
    const help = (await world.guardloop(["--help"])).stdout;
    const verbs = [...help.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1] ?? "");
    const commands = verbs
      .filter((verb) => verb !== "help")
      .map((verb) => `guardloop ${verb === "image" ? "image build" : verb}`);
    const sections = tables.map((table) => table.under[1] ?? "");
    expect([...new Set(sections)].toSorted()).toEqual([...commands, "Failure"].toSorted());
  });

  test.each(tables.map((table) => [table.under.slice(1).join(", "), table] as const))(
    "%s: the keys and types are exactly those that are printed",
    (_, table) => {
      const shape = shapeOf(table);
      const values = printed.get(table.under.at(-1) ?? "") ?? [];
      const found = new Set(values.flatMap((value) => pathsIn(value, shape)));
      expect([...found].toSorted()).toEqual(promisedBy(shape).toSorted());
      expect(values.every((value) => value["version"] === 1)).toBe(true);
    },
  );

  test("every line has all its keys, whatever it says", () => {
    const uneven = [...printed].filter(([, values]) => {
      const keys = new Set(values.map((value) => Object.keys(value).toSorted().join()));
      return keys.size !== 1;
    });
    expect(uneven.map(([section]) => section)).toEqual([]);
  });

  test("the events are exactly those a run can print, with exactly their fields", () => {
    const events = (printed.get("event") ?? []).map((line) => line["event"] as { type: string });
    const fields = new Map(
      events.map(({ type, ...rest }) => [type, Object.keys(rest).toSorted()] as const),
    );
    const documented = tablesOf(document)
      .filter((table) => table.head[0] === "event")
      .flatMap((table) => table.rows)
      .map(
        ([type = "", further = ""]) =>
          [codesIn(type)[0] ?? "", codesIn(further).toSorted()] as const,
      );
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(fields));
    const whole = Object.keys(SAID_BY_RUN).filter((type) => SAID_BY_RUN[type as Type] === "run");
    expect(documented.map(([type]) => type).toSorted()).toEqual(whole.toSorted());
  });

  test("lines of logs hold a time and the fields of an agent's event", () => {
    for (const line of printed.get("guardloop logs") ?? [])
      expect(line["event"]).toMatchObject({ at: expect.any(String), type: "output" });
  });

  test("the help of every command points here", async () => {
    expect((await world.guardloop(["runs", "--help"])).stdout).toContain("docs/json.md");
  });
});

type Type = RunEvent["type"];

/** Compiles only while it names every event: those a run prints, and those of decisions and of later clean-up. */
const SAID_BY_RUN: Readonly<Record<Type, "run" | "journal">> = {
  "run-created": "run",
  "run-adopted": "run",
  "stage-intent": "run",
  "stage-done": "run",
  "stage-failed": "run",
  "stage-undone": "run",
  "agent-version": "run",
  "task-selected": "run",
  "run-ready": "run",
  "run-failed": "run",
  "run-interrupted": "run",
  validated: "run",
  salvaged: "run",
  "snapshot-kept": "run",
  "snapshot-removed": "journal",
  "promotion-intent": "journal",
  "rollback-intent": "journal",
  "run-promoted": "journal",
  "run-rolled-back": "journal",
  "run-discarded": "journal",
  "run-restored": "journal",
  "branch-pruned": "journal",
  "branch-returned": "journal",
  "record-removed": "journal",
};
