import { expect, test } from "vitest";
import { exitStatusOf } from "../../src/core/failures.ts";
import { loaded, refused } from "./load-rig.ts";

function complaint(repository: string): string {
  const failure = refused({ repository });
  expect(failure.code).toBe("config-invalid");
  expect(exitStatusOf(failure.code)).toBe(2);
  expect(failure.details).toEqual([]);
  return failure.message;
}

test.each([
  [
    "[container]\nmemry = '4g'",
    "2:1 there is no setting container.memry; did you mean container.memory?",
  ],
  ["[container]\n  memory_limit_x = 1", "2:3 there is no setting container.memory_limit_x."],
  ["[agent]\npassEnv = []", "2:1 there is no setting agent.passEnv; did you mean agent.pass_env?"],
  ["[run]\nmemory = '4g'", "2:1 there is no setting run.memory; did you mean container.memory?"],
  ["memory = '4g'", "1:1 there is no setting memory; did you mean container.memory?"],
  [
    "[contaner]\nmemory = '4g'\ncpus = 1",
    "1:2 there is no section [contaner]; did you mean [container]?",
  ],
  ["[zebra]", "1:2 there is no section [zebra]."],
  [
    "container.memry = '1g'",
    "1:1 there is no setting container.memry; did you mean container.memory?",
  ],
  [
    "container = {memry = '1g'}",
    "1:14 there is no setting container.memry; did you mean container.memory?",
  ],
  [
    "[container.memory]\nmax = '1g'",
    "1:2 container.memory is a table: expected a size of 16m or more",
  ],
  [
    "[[container]]\nmemory = '1g'",
    "1:3 container is a section: write [container] on a line of its own.",
  ],
  ["container = 5", "1:1 container is a section: write [container] on a line of its own."],
  ["[a.__proto__]\nx = 1", "1:2 there is no setting a.__proto__."],
])("an unknown key is refused where it stands: %j", (text, expected) => {
  expect(complaint(text)).toContain(`guardloop.toml:${expected}`);
});

test.each([
  [
    "[container]\nmemory = 4",
    '2:1 container.memory = 4: expected a size of 16m or more, for example "4g".',
  ],
  ["[container]\nmemory = '4'", '2:1 container.memory = "4": expected a size'],
  ["[container]\nmemory = '15m'", '2:1 container.memory = "15m": expected a size of 16m or more'],
  ["[container]\ncpus = '4'", '2:1 container.cpus = "4": expected a number'],
  ["[container]\ncpus = inf", "2:1 container.cpus = Infinity: expected a number"],
  ["[container]\npids = 99.5", "2:1 container.pids = 99.5: expected a whole number"],
  ["[container]\npids = 99999999999999999999", "2:1 container.pids = "],
  [
    "[container]\nimage = '--privileged'",
    '2:1 container.image = "--privileged": expected the name of an image',
  ],
  ["[network]\nmode = 'host'", '2:1 network.mode = "host": expected one of none, gateway, bridge.'],
  ["[limits]\nwall_minutes = 0", "2:1 limits.wall_minutes = 0: expected minutes"],
  ["[limits]\nwall_minutes = 2024-01-01", "2:1 limits.wall_minutes = "],
  [
    "[agent]\npass_env = 'KEY'",
    '2:1 agent.pass_env = "KEY": expected names of environment variables',
  ],
  ["[agent]\npass_env = ['OK',\n  'A=B']", "3:3 agent.pass_env = "],
  ["[agent]\npass_env = ['HOME']", "2:13 agent.pass_env = "],
  ["[agent]\nmodel = '-x'", '2:1 agent.model = "-x": expected the name of a model.'],
  ["[agent]\nauthor_name = 'a <b>'", '2:1 agent.author_name = "a <b>": expected a name'],
  ['[agent]\nauthor_name = "a\\nb"', "2:1 agent.author_name = "],
  ["[plan]\npaths = ['/etc/passwd']", "2:10 plan.paths = "],
  ["[overlay]\ninclude = ['a/../../b']", "2:12 overlay.include = "],
  ["[prompt]\ntemplate = '../p.md'", '2:1 prompt.template = "../p.md": expected a path'],
  ["[run]\nmax_tasks = true", "2:1 run.max_tasks = true: expected a whole number"],
])("a wrong value is refused where it stands: %j", (text, expected) => {
  expect(complaint(text)).toContain(`guardloop.toml:${expected}`);
});

test.each([
  ["[container]\npids = 100\npids = 200", "3:1 this key is defined twice."],
  ["[container]\npids = 100\n[container]\ncpus = 1", "3:2 this key is defined twice."],
  ["[container]\npids =\n\n\n", "2:7 a value is missing."],
  ["[container\n", "1:11 this is not TOML (unterminated table-key)."],
  ["[network]\r\nmode = bridge\r\n", '2:8 this is not TOML (text needs quotes: name = "value").'],
  ["[network]\nmode = 'bri", "2:12 this is not TOML (unterminated string constant)."],
  [`x = ${"[".repeat(30_000)}${"]".repeat(30_000)}`, "1:1 values are nested too deeply."],
])("text that is not TOML is refused with its place: %#", (text, expected) => {
  expect(complaint(text)).toBe(`guardloop.toml:${expected}`);
});

test("a file longer than a configuration ever is, is refused unread", () => {
  expect(complaint("#".repeat(70_000))).toBe("guardloop.toml is longer than 64 KiB.");
});

test("a byte order mark and Windows line endings mean nothing", () => {
  const { settings } = loaded({ repository: '\uFEFF[container]\r\nmemory = "1g"\r\n' });
  expect(settings.container.memoryBytes).toBe(1024 ** 3);
});

test("all problems of all sources are reported at once", () => {
  const failure = refused({
    repository: "[container]\nmemry = '1g'\npids = 'many'\n",
    user: "[netwrok]\nmode = 'none'\n",
    guard: { GUARD_CPUS: "many" },
    flags: { "network.mode": "wifi" },
  });
  expect(failure.message).toBe("The configuration has 5 problems.");
  expect(failure.details).toEqual([
    "--network = wifi: expected one of none, gateway, bridge.",
    "GUARD_CPUS = many: expected a number of 0.1 or more, for example 4.",
    "/home/ada/config.toml:1:2 there is no section [netwrok]; did you mean [network]?",
    "guardloop.toml:2:1 there is no setting container.memry; did you mean container.memory?",
    'guardloop.toml:3:1 container.pids = "many": expected a whole number from 16 to 4194304.',
  ]);
});

test.each(["host", "socket", "None", "bridge "])("the network mode %j is refused", (mode) => {
  for (const sources of [
    { guard: { GUARD_NETWORK_MODE: mode } },
    { flags: { "network.mode": mode } },
  ]) {
    expect(refused(sources).message).toContain("expected one of none, gateway, bridge");
  }
});

test("a trusted file is checked like any other", () => {
  expect(refused({ repository: "[network]\nmode = 'host'", trusted: "yes" }).message).toContain(
    'guardloop.toml:2:1 network.mode = "host"',
  );
});

test("an unknown GUARD_ name is a notice with a suggestion, not a failure", () => {
  const { notices } = loaded({ guard: { GUARD_MEMROY: "1g", GUARD_ZEBRA_STRIPES: "9" } });
  expect(notices).toEqual([
    "GUARD_MEMROY is not a setting and is ignored; did you mean GUARD_MEMORY?",
    "GUARD_ZEBRA_STRIPES is not a setting and is ignored.",
  ]);
});

test.each(["0x10", "1e3", " 5", "-1", "5.", "∞"])("the number %j is refused", (text) => {
  expect(refused({ guard: { GUARD_PIDS: text } }).message).toContain("GUARD_PIDS = ");
});
