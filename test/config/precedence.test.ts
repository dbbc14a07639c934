import { expect, test } from "vitest";
import { SETTINGS } from "../../src/config/table.ts";
import { loaded, originOf } from "./load-rig.ts";

const GIB = 1024 ** 3;

test("with no source at all, every setting has the default that was agreed", () => {
  const { settings, notices } = loaded({});
  expect(settings).toEqual({
    plan: { globs: ["docs/TASKS.md", "docs/tasks/*.md"], runnable: ["ready", "planned"] },
    agent: {
      names: [],
      command: [],
      model: undefined,
      passEnv: [],
      reminder: "on",
      authorName: "guardloop agent",
      authorEmail: "agent@guardloop.invalid",
    },
    network: { mode: "none", allowHosts: [] },
    gateway: {
      provider: undefined,
      serverTools: [],
      maxRequestBytes: 32 * 1024 ** 2,
      waitForLimit: "off",
    },
    upstream: {
      openai: "https://api.openai.com/v1",
      anthropic: "https://api.anthropic.com",
      gemini: "https://generativelanguage.googleapis.com",
      compatible: undefined,
    },
    credential: {
      openai: "env:OPENAI_API_KEY",
      anthropic: "env:ANTHROPIC_API_KEY",
      gemini: "env:GEMINI_API_KEY",
      compatible: "none",
    },
    budget: {
      run: { requests: null, inputTokens: null, outputTokens: null, usd: null },
      invocation: { requests: null, inputTokens: null, outputTokens: null, usd: null },
    },
    setup: {
      commands: [],
      allowHosts: [],
      lockfiles: expect.arrayContaining(["**/package-lock.json", "**/Cargo.lock"]),
      keep: [],
      minutes: 30,
    },
    cache: { directories: [] },
    container: {
      engine: "auto",
      runtime: undefined,
      image: "guardloop-agent",
      memoryBytes: 4 * GIB,
      cpus: 4,
      pids: 512,
      tmpBytes: GIB,
      homeBytes: 512 * 1024 ** 2,
      maxOnHost: 0,
    },
    limits: {
      wallMinutes: 60,
      idleMinutes: 15,
      completionMinutes: 5,
      diskBytes: 10 * GIB,
      files: 1_000_000,
      logBytes: 64 * 1024 ** 2,
    },
    lease: { kind: "auto" },
    snapshot: { method: "auto" },
    overlay: { include: [] },
    import: { authorship: "keep" },
    run: {
      maxTasks: 1,
      mode: "stacked",
      onFailure: "stop",
      promote: "manual",
      parallel: 1,
      attempts: 1,
      maxFailures: 0,
      backoffMs: 10_000,
      backoffMaxMs: 600_000,
      giveUpAfter: 3,
    },
    recovery: { containers: "stop" },
    prompt: { template: undefined },
    validate: { commands: [], minutes: 15 },
    policy: { protected: [], raise: [], lower: [] },
    notify: { on: ["ready", "failed", "waiting"], bell: "off", command: [], url: undefined },
    disk: { freeFloorBytes: 2 * GIB },
    retention: {
      automatic: "on",
      branchDays: 14,
      recordDays: 90,
      snapshotDays: 14,
      setupDays: 30,
      poolDays: 30,
      poolWorktrees: 16,
    },
  });
  expect(notices).toEqual([]);
});

test("a stronger source wins: flag, environment, user file, repository file, default", () => {
  const sources = {
    repository: '[container]\nmemory = "1g"\n',
    user: '[container]\nmemory = "2g"\n',
    guard: { GUARD_MEMORY: "3g" },
    flags: { "container.memory": "3.5g" },
  };
  const { repository, user, guard } = sources;
  expect(memory(sources)).toEqual([3.5, "flag", "--memory", "3.5g"]);
  expect(memory({ repository, user, guard })).toEqual([3, "environment", "GUARD_MEMORY", "3g"]);
  expect(memory({ repository, user })).toEqual([2, "user file", "/home/ada/config.toml:2:1", "2g"]);
  expect(memory({ repository })).toEqual([1, "repository file", "guardloop.toml:2:1", "1g"]);
  expect(memory({})).toEqual([4, "default", null, "4g"]);
});

test("every setting can be set by its GUARD_ variable and by its key on the command line", () => {
  const samples: Record<string, string> = {
    "plan.paths": "plan/*.md",
    "plan.runnable": "ready",
    "agent.name": "codex",
    "agent.command": "sh -c",
    "agent.model": "small-1",
    "agent.pass_env": "API_KEY",
    "agent.reminder": "off",
    "agent.author_name": "Robot",
    "agent.author_email": "robot@example.invalid",
    "network.mode": "bridge",
    "network.allow_hosts": "example.org",
    "gateway.provider": "compatible",
    "gateway.server_tools": "web_search",
    "gateway.max_request": "1m",
    "gateway.wait_for_limit": "on",
    "upstream.openai": "https://openai.example.invalid/v1",
    "upstream.anthropic": "https://anthropic.example.invalid",
    "upstream.gemini": "https://gemini.example.invalid",
    "upstream.compatible": "http://127.0.0.1:11434/v1",
    "credential.openai": "env:OTHER_KEY",
    "credential.anthropic": "file:~/.secrets/anthropic",
    "credential.gemini": "none",
    "credential.compatible": "env:LOCAL_KEY",
    "budget.requests": "10",
    "budget.input_tokens": "1000",
    "budget.output_tokens": "100",
    "budget.usd": "2.5",
    "budget.all_requests": "20",
    "budget.all_input_tokens": "2000",
    "budget.all_output_tokens": "200",
    "budget.all_usd": "5",
    "setup.commands": "npm ci",
    "setup.allow_hosts": "*.example.org",
    "setup.lockfiles": "deps.lock",
    "setup.keep": "node_modules",
    "setup.minutes": "5",
    "cache.directories": ".npm",
    "container.engine": "podman",
    "container.runtime": "runsc",
    "container.image": "node:22",
    "container.memory": "1g",
    "container.cpus": "2",
    "container.pids": "100",
    "container.tmp": "2g",
    "container.home": "1g",
    "container.max_on_host": "2",
    "limits.wall_minutes": "5",
    "limits.idle_minutes": "0.5",
    "limits.log": "8m",
    "lease.kind": "builtin",
    "snapshot.method": "copy",
    "overlay.include": "*.local",
    "import.authorship": "replace",
    "run.max_tasks": "3",
    "run.mode": "independent",
    "run.on_failure": "keep-going",
    "run.promote": "auto",
    "run.parallel": "2",
    "run.attempts": "2",
    "run.max_failures": "2",
    "run.backoff_seconds": "1.5",
    "run.backoff_max_seconds": "60",
    "run.give_up_after": "0",
    "recovery.containers": "adopt",
    "limits.completion_minutes": "3",
    "limits.disk": "3g",
    "limits.files": "3000",
    "prompt.template": "docs/prompt.md",
    "validate.commands": "test: npm test",
    "validate.minutes": "3",
    "policy.protected": "infra/**",
    "policy.raise": "binary: block",
    "policy.lower": "binary: info",
    "notify.on": "failed",
    "notify.bell": "on",
    "notify.command": "notify-send",
    "notify.url": "https://example.invalid",
    "disk.free_floor": "5g",
    "retention.automatic": "off",
    "retention.branch_days": "30",
    "retention.record_days": "never",
    "retention.snapshot_days": "30",
    "retention.setup_days": "60",
    "retention.pool_days": "60",
    "retention.pool_worktrees": "never",
  };
  const before = JSON.stringify(loaded({}).settings);
  for (const { key, guard, flag } of SETTINGS) {
    const text = samples[key]!;
    const byGuard = loaded({ guard: { [guard]: text } });
    expect(originOf(byGuard, key)).toMatchObject({ origin: "environment", where: guard });
    expect(JSON.stringify(byGuard.settings), `${guard} changes something`).not.toBe(before);
    const byFlag = loaded({ flags: { [key]: text } });
    expect(originOf(byFlag, key)).toMatchObject({ origin: "flag", where: flag.name });
    expect(byFlag.settings).toEqual(byGuard.settings);
  }
});

test("lists come from commas, from JSON, or from an option given several times", () => {
  expect(globs("a.md, b/*.md")).toEqual(["a.md", "b/*.md"]);
  expect(globs("docs/{a,b}.md,c.md")).toEqual(["docs/{a,b}.md", "c.md"]);
  expect(globs('["a,b.md"]')).toEqual(["a,b.md"]);
  const flags = { "agent.pass_env": ["ONE", "TWO,THREE"] };
  expect(loaded({ flags }).settings.agent.passEnv).toEqual(["ONE", "TWO", "THREE"]);
  const none = { user: '[agent]\npass_env = ["ONE"]', guard: { GUARD_PASS_ENV: "[]" } };
  expect(loaded(none).settings.agent.passEnv).toEqual([]);
});

test("the agent's command from the environment is words or JSON, never a shell line", () => {
  expect(command(" node  agent.js $HOME ")).toEqual(["node", "agent.js", "$HOME"]);
  expect(command('["sh", "-c", "echo \'a b\'"]')).toEqual(["sh", "-c", "echo 'a b'"]);
  expect(() => command("sh -c 'echo a'")).toThrow(
    "GUARD_AGENT_COMMAND = sh -c 'echo a': expected a list of words",
  );
});

test("an empty GUARD_ variable counts as not set, and an undefined flag as not given", () => {
  const resolved = loaded({
    user: '[agent]\nmodel = "large-1"',
    guard: { GUARD_MODEL: "" },
    flags: { "agent.model": undefined },
  });
  expect(resolved.settings.agent.model).toBe("large-1");
});

test("an empty text takes a model away that a weaker source has set", () => {
  const resolved = loaded({ user: '[agent]\nmodel = "large-1"', flags: { "agent.model": "" } });
  expect(resolved.settings.agent.model).toBeUndefined();
});

function memory(given: Parameters<typeof loaded>[0]): readonly unknown[] {
  const resolved = loaded(given);
  const { origin, where, value } = originOf(resolved, "container.memory");
  return [resolved.settings.container.memoryBytes / GIB, origin, where, value];
}

function globs(text: string): readonly string[] {
  return loaded({ guard: { GUARD_PLAN: text } }).settings.plan.globs;
}

function command(text: string): readonly string[] {
  return loaded({ guard: { GUARD_AGENT_COMMAND: text } }).settings.agent.command;
}
