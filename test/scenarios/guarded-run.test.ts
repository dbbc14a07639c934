import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  FINISH,
  GOOD_AGENT,
  agentRuns,
  checkoutDigest,
  leftovers,
  makeWorld,
  runsOf,
} from "../rig/world.ts";

describe.each(["scripted", "docker"] as const)("a guarded run on the %s engine", (engine) => {
  test("brings the agent's work back on an agent branch and leaves the checkout alone", async () => {
    using world = makeWorld(engine);
    const before = checkoutDigest(world);
    const ended = await world.run(GOOD_AGENT);
    expect(ended.stderr).toContain("ready");
    expect(ended.code).toBe(0);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ task: "T1", state: "ready", failure: null });
    expect(run?.branch).toBe(`agent/T1-${run?.id}`);
    expect(world.git("show", `${run?.branch}:T1.txt`)).toBe("work on T1");
    expect(world.git("log", "-1", "--format=%an <%ae>|%cn|%s", run?.branch ?? "")).toBe(
      "guardloop agent <agent@guardloop.invalid>|guardloop|Do T1",
    );
    expect(world.git("log", "-1", "--format=%(trailers:only)", run?.branch ?? "")).toContain(
      `Guardloop-Run: ${run?.id}`,
    );
    expect(checkoutDigest(world, /^refs\/heads\/agent\//)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("a second task gets a lease of its own and builds on the first", async () => {
    using world = makeWorld(engine);
    const ended = await world.run(GOOD_AGENT, ["--max-tasks", "2", "--json"]);
    expect(ended.code).toBe(0);
    const events = ended.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const leases = events
      .filter((one) => one.event?.type === "stage-done" && one.event.stage === "lease")
      .map((one) => one.event.output.lease.id);
    expect(new Set(leases).size).toBe(2);
    const [second, first] = await runsOf(world);
    expect(second?.task).toBe("T2");
    expect(second?.base).toBe(first?.head);
    expect(leftovers(world)).toEqual([]);
  });

  test("independent runs both start from the principal HEAD and do not take the same task", async () => {
    using world = makeWorld(engine);
    const ended = await world.run(GOOD_AGENT_FROM_PROMPT, ["--max-tasks", "2", "--independent"]);
    expect(ended.code).toBe(0);
    const runs = await runsOf(world);
    expect(runs.map((run) => run.task)).toEqual(["T2", "T1"]);
    expect(new Set(runs.map((run) => run.base))).toEqual(new Set([world.git("rev-parse", "HEAD")]));
  });

  test("an agent that deletes everything it can reach harms nothing on the host", async () => {
    using world = makeWorld(engine);
    const before = checkoutDigest(world);
    // On the scripted engine the script runs on the host, so it may only reach for the workspace there.
    const target =
      engine === "docker" ? "rm -rf / /workspace/.git /workspace/*" : 'rm -rf "$PWD"/* "$PWD"/.git';
    const ended = await world.run(`${target} 2>/dev/null; true`);
    expect(ended.code).toBe(4);
    const [run] = await runsOf(world);
    expect(run?.failure).toMatchObject({ stage: "collect", code: "missing-task-id" });
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("an agent that exits non-zero with complete artifacts is imported, with a finding", async () => {
    using world = makeWorld(engine);
    const ended = await world.run(`${GOOD_AGENT}\nexit 3`);
    expect(ended.code).toBe(0);
    const [run] = await runsOf(world);
    expect(run?.state).toBe("ready");
    const review = await world.guardloop(["review", "@last", "--json"]);
    const codes = JSON.parse(review.stdout).findings.map((one: { code: string }) => one.code);
    expect(codes).toContain("agent-failed");
  });

  test("an agent over its wall limit is ended, and what it had done is salvaged", async () => {
    using world = makeWorld(engine);
    const ended = await world.run("echo half > half.txt; sleep 120", ["--wall-minutes", "0.05"]);
    expect(ended.code).toBe(1);
    const [run] = await runsOf(world);
    expect(run?.failure).toMatchObject({ code: "agent-wall-limit" });
    const patches = readdirSync(join(world.state, "runs", run?.id ?? "", "salvage", "patches"));
    expect(patches).toHaveLength(1);
    expect(
      readFileSync(
        join(world.state, "runs", run?.id ?? "", "salvage/patches", patches[0] ?? ""),
        "utf8",
      ),
    ).toContain("half.txt");
    expect(leftovers(world)).toEqual([]);
  });

  test("a silent agent is ended by the idle limit", async () => {
    using world = makeWorld(engine);
    const ended = await world.run("sleep 120", ["--idle-minutes", "0.05"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("printed nothing");
    expect((await runsOf(world))[0]?.failure?.code).toBe("agent-idle-limit");
    expect(leftovers(world)).toEqual([]);
  });

  test("Ctrl-C ends the run in order: the work is salvaged and the lease returned", async () => {
    using world = makeWorld(engine);
    let pid = 0;
    let sent = false;
    const ended = await world.run("echo half > half.txt; echo started; sleep 120", [], {
      onStart: (started) => (pid = started),
      onStderr: () => {
        const [run] = existsSync(join(world.state, "runs"))
          ? readdirSync(join(world.state, "runs"))
          : [];
        const log = join(world.state, "runs", run ?? "", "agent.log");
        if (run === undefined || sent) return;
        sent = true;
        const timer = setInterval(() => {
          if (!existsSync(log) || !readFileSync(log, "utf8").includes("started")) return;
          clearInterval(timer);
          process.kill(pid, "SIGINT");
        }, 50);
      },
    });
    expect(ended.code).toBe(130);
    const [run] = await runsOf(world);
    expect(run?.state).toBe("interrupted");
    expect(existsSync(join(world.state, "runs", run?.id ?? "", "salvage", "patches"))).toBe(true);
    expect(leftovers(world)).toEqual([]);
  });
});

test("Ctrl-C twice ends at once, leaves no client process, and recovery cleans up", async () => {
  using world = makeWorld();
  let pid = 0;
  let stderr = "";
  const running = world.run("trap '' TERM; echo started; sleep 120", [], {
    onStart: (at) => (pid = at),
    onStderr: (text) => (stderr += text),
  });
  const started = (): boolean => {
    const [run] = existsSync(join(world.state, "runs"))
      ? readdirSync(join(world.state, "runs"))
      : [];
    const log = join(world.state, "runs", run ?? "", "agent.log");
    return run !== undefined && existsSync(log) && readFileSync(log, "utf8").includes("started");
  };
  while (!started()) await delay(50);
  process.kill(pid, "SIGINT");
  while (!stderr.includes("ending in order")) await delay(20);
  process.kill(pid, "SIGINT");
  const ended = await running;
  expect(ended.stderr).toContain("ended at once");
  expect(ended.code).toBe(130);
  expect(clientsOf(world.bin)).toEqual([]);
  expect((await world.guardloop(["recover"])).code).toBe(0);
  expect(leftovers(world)).toEqual([]);
});

/** Processes that still run a scripted docker client of this world. */
function clientsOf(bin: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(join(bin, "docker")));
}

describe("what the container is started with", () => {
  test("carries every hardened flag", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const [argv = []] = agentRuns(world);
    const flags = argv.slice(0, argv.indexOf(`sha256:${"ab".repeat(32)}`));
    for (const flag of [
      "--rm",
      "--init",
      "--pull=never",
      "--cap-drop=ALL",
      "--security-opt=no-new-privileges",
      "--pids-limit=512",
      `--memory=${4 * 2 ** 30}`,
      `--memory-swap=${4 * 2 ** 30}`,
      "--cpus=4",
      "--read-only",
      "--cgroupns=private",
      "--ipc=private",
      "--ulimit=core=0:0",
      "--log-driver=local",
    ])
      expect(flags).toContain(flag);
    expect(flags.join(" ")).toContain("--network none");
    expect(flags.find((flag) => flag.startsWith("--user="))).not.toMatch(/^--user=0:/);
    for (const tmpfs of ["/tmp", "/guardloop/home"])
      expect(flags.find((flag) => flag.startsWith(`--tmpfs=${tmpfs}:`))).toMatch(
        /exec,nosuid,nodev,size=\d+,uid=\d+,gid=\d+/,
      );
    expect(flags.join(" ")).not.toMatch(
      /privileged|docker\.sock|--device|--pid=host|seccomp=unconfined/,
    );
  });

  test("mounts the run's own directories and nothing of the user's", async () => {
    using world = makeWorld();
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    const [argv = []] = agentRuns(world);
    const sources = argv
      .filter((one) => one.startsWith("--mount="))
      .map((one) => /source=([^,]*)/.exec(one)?.[1] ?? "");
    const [run] = await runsOf(world);
    const own = join(world.state, "runs", run?.id ?? "?");
    const kept = /\/layers\/[0-9a-f]{12}\/stores\/1\/base\.git$/;
    expect(sources.filter((source) => !source.startsWith(own) && !kept.test(source))).toEqual([]);
    expect(argv.join(" ")).not.toContain(world.repo);
    expect(argv.join(" ")).not.toContain(join(world.state, "worktrees"));
    const writable = argv.filter((one) => one.startsWith("--mount=") && !one.includes("readonly"));
    expect(writable.map((one) => /target=([^,]*)/.exec(one)?.[1])).toEqual([
      "/workspace",
      "/guardloop/artifacts",
    ]);
  });

  test("gets no variable of the user's environment but those that are named", async () => {
    using world = makeWorld();
    const env = { SECRET_OF_MINE: "s3cr3t", WANTED: "w4nted" };
    await world.run(GOOD_AGENT, ["--pass-env", "WANTED"], { env });
    const [argv = []] = agentRuns(world);
    expect(argv).toContain("--env=WANTED");
    expect(argv.join(" ")).not.toMatch(/s3cr3t|w4nted|SECRET_OF_MINE/);
    const run = world.dockerCalls().find((call) => call.argv.join() === argv.join());
    expect(run?.env).toContain("WANTED");
    expect(run?.env).not.toContain("SECRET_OF_MINE");
  });

  test.each([
    ["the flag", ["--network", "bridge"], {}],
    ["the variable", [], { GUARD_NETWORK_MODE: "bridge" }],
  ])("bridge by %s changes exactly the network, and is announced", async (_, flags, env) => {
    using world = makeWorld();
    await world.run(GOOD_AGENT);
    const ended = await world.run(GOOD_AGENT, flags, { env });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("Network mode bridge");
    const [none = [], bridge = []] = agentRuns(world);
    const withoutIds = (argv: readonly string[]) =>
      argv.map((one) => one.replaceAll(/\d{6}-\d{6}-[0-9a-z]{5}/g, "RUN"));
    // What is closed of the network that was opened: see the tests of the real engine.
    const isMetadata = (one: string) => /^--(?:link-local-ip|add-host)=/.test(one);
    const opened = withoutIds(bridge).filter((one) => !isMetadata(one));
    const differing = opened.filter((one, index) => one !== withoutIds(none)[index]);
    expect(differing).toEqual(["bridge"]);
    expect(bridge.filter(isMetadata)).toContain("--link-local-ip=169.254.169.254");
    expect(none.filter(isMetadata)).toEqual([]);
    const shown = await world.guardloop(["show", "@last", "--json"]);
    expect(JSON.parse(shown.stdout).run.network).toBe("bridge");
  });
});

describe("what has to be there", () => {
  test.each([
    ["missing patches", "true", "missing-patches", FINISH],
    [
      "a missing commit message",
      "rm $GUARDLOOP_ARTIFACTS/last-commit-message.txt",
      "missing-commit-message",
      `${FINISH} echo x > x.txt;`,
    ],
    [
      "an empty commit message",
      ": > $GUARDLOOP_ARTIFACTS/last-commit-message.txt",
      "bad-commit-message",
      `${FINISH} echo x > x.txt;`,
    ],
    [
      "a missing task id",
      "rm $GUARDLOOP_ARTIFACTS/selected-task-id.txt",
      "missing-task-id",
      `${FINISH} echo x > x.txt;`,
    ],
    [
      "a task that was not offered",
      "echo T3 > $GUARDLOOP_ARTIFACTS/selected-task-id.txt",
      "bad-task-id",
      `${FINISH} echo x > x.txt;`,
    ],
  ])("%s fails the run with a name, and nothing is published", async (_, last, code, script) => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    const ended = await world.run(`${script}\n${last}`);
    expect(ended.code).toBe(4);
    expect((await runsOf(world))[0]?.failure?.code).toBe(code);
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("a patch that does not give the tree the agent had is refused, and nothing is published", async () => {
    using world = makeWorld();
    const before = checkoutDigest(world);
    world.faults({ editPatch: { from: "work on T1", to: "work on T9" } });
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(4);
    expect((await runsOf(world))[0]?.failure).toMatchObject({
      stage: "import",
      code: "import-mismatch",
    });
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  test("a program that is not in the image has a failure of its own", async () => {
    using world = makeWorld();
    const ended = await world.guardloop(["run", "--agent", "command", "--", "no-such-program"]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain("no-such-program could not be started");
    expect(leftovers(world)).toEqual([]);
  });
});

const GOOD_AGENT_FROM_PROMPT = `
id=$(sed -n 's/^- \`\\([A-Z0-9]*\\)\`: .*/\\1/p' "$GUARDLOOP_PROMPT" | head -n 1)
echo "work on $id" > "$id.txt"
awk -v id="$id" '/^## /{here=($2==id)} here && /^Status: ready/{sub("ready","done")} {print}' docs/TASKS.md > "$TMPDIR/plan.$$"
cat "$TMPDIR/plan.$$" > docs/TASKS.md; rm "$TMPDIR/plan.$$"
echo "$id" > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
echo "Do $id" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;
