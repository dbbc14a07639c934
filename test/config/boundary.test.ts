import { expect, test } from "vitest";
import { SETTINGS } from "../../src/config/table.ts";
import { loaded, originOf } from "./load-rig.ts";

const BRIDGE = '# ours\n[network]\nmode = "bridge"\n';

test("an untrusted repository cannot give the container a network, and the user is told how to", () => {
  const resolved = loaded({ repository: BRIDGE });
  expect(resolved.settings.network.mode).toBe("none");
  expect(originOf(resolved, "network.mode").origin).toBe("default");
  expect(resolved.notices).toEqual([
    "guardloop.toml:3:1 network.mode = bridge is not used: it loosens the boundary; run `guardloop trust` or pass --network bridge.",
  ]);
});

test("after trust the repository's value counts, with no notice", () => {
  const resolved = loaded({ repository: BRIDGE, trusted: "yes" });
  expect(resolved.settings.network.mode).toBe("bridge");
  expect(originOf(resolved, "network.mode").where).toBe("guardloop.toml:3:1");
  expect(resolved.notices).toEqual([]);
});

test("the user's own sources need no trust, and then the repository's value is not worth a notice", () => {
  for (const own of [
    { flags: { "network.mode": "bridge" } },
    { guard: { GUARD_NETWORK_MODE: "bridge" } },
    { user: BRIDGE },
  ]) {
    const resolved = loaded({ ...own, repository: BRIDGE });
    expect(resolved.settings.network.mode).toBe("bridge");
    expect(resolved.notices).toEqual([]);
  }
});

const LOOSENING: Record<string, string> = {
  "network.mode": '"bridge"',
  "network.allow_hosts": '["example.org"]',
  "gateway.provider": '"compatible"',
  "gateway.server_tools": '["web_search"]',
  "gateway.max_request": '"33m"',
  "gateway.wait_for_limit": '"on"',
  "upstream.openai": '"https://evil.example.invalid/v1"',
  "upstream.anthropic": '"https://evil.example.invalid"',
  "upstream.gemini": '"https://evil.example.invalid"',
  "upstream.compatible": '"https://evil.example.invalid"',
  "credential.openai": '"env:AWS_SECRET_ACCESS_KEY"',
  "credential.anthropic": '"file:/etc/shadow"',
  "credential.gemini": '"login:codex"',
  "credential.compatible": '"env:OPENAI_API_KEY"',
  "setup.commands": '["npm ci"]',
  "setup.allow_hosts": '["example.org"]',
  "setup.minutes": "31",
  "cache.directories": '[".npm"]',
  "container.engine": '"podman"',
  "container.runtime": '"runsc"',
  "container.image": '"evil:latest"',
  "agent.pass_env": '["AWS_SECRET_ACCESS_KEY"]',
  "container.memory": '"4097m"',
  "container.cpus": "4.5",
  "container.pids": "513",
  "container.tmp": '"1.1g"',
  "container.home": '"513m"',
  "container.max_on_host": "1",
  "limits.wall_minutes": "61",
  "limits.idle_minutes": "15.5",
  "limits.log": '"65m"',
  "limits.completion_minutes": "5.5",
  "limits.disk": '"11g"',
  "limits.files": "1000001",
  "overlay.include": '[".env"]',
  "run.promote": '"auto"',
  "validate.minutes": "16",
  "policy.lower": '["binary: info"]',
  "notify.command": '["notify-send"]',
  "notify.url": '"https://example.invalid/"',
  "disk.free_floor": '"1g"',
  "retention.branch_days": "13.5",
  "retention.record_days": "89",
  "retention.snapshot_days": "13",
  "retention.setup_days": "29",
  "retention.pool_days": "29",
  "retention.pool_worktrees": "15",
};

test.each(Object.entries(LOOSENING))("%s = %s in an untrusted file is not used", (key, value) => {
  const repository = inFile(key, value);
  const resolved = loaded({ repository });
  expect(resolved.settings).toEqual(loaded({}).settings);
  expect(resolved.notices).toHaveLength(1);
  expect(resolved.notices[0]).toContain(`guardloop.toml:2:1 ${key} = `);
  expect(loaded({ repository, trusted: "yes" }).settings).not.toEqual(resolved.settings);
});

test("exactly those settings can loosen the boundary", () => {
  const loosening = SETTINGS.filter((setting) => setting.loosensWhen !== null);
  expect(loosening.map(({ key }) => key).toSorted()).toEqual(Object.keys(LOOSENING).toSorted());
});

const HARMLESS: Record<string, string> = {
  "network.mode": '"none"',
  "container.engine": '"auto"',
  "container.runtime": '""',
  "container.image": '"guardloop-agent"',
  "agent.pass_env": "[]",
  "container.memory": '"2g"',
  "container.cpus": "1",
  "container.pids": "100",
  "container.tmp": '"64m"',
  "container.home": '"512m"',
  "limits.wall_minutes": "30",
  "limits.idle_minutes": "15",
  "limits.log": '"1m"',
  "overlay.include": "[]",
  "run.promote": '"manual"',
  "container.max_on_host": "0",
  "agent.name": '"codex,claude"',
  "agent.command": '["sh"]',
  "run.max_tasks": "5",
  "notify.on": '["failed"]',
  "notify.bell": '"on"',
  "notify.command": "[]",
  "notify.url": '""',
  "run.parallel": "4",
  "run.attempts": "3",
  "run.backoff_seconds": "60",
  "run.give_up_after": "1",
  "disk.free_floor": '"4g"',
  "retention.automatic": '"off"',
  "retention.branch_days": "30",
  "retention.record_days": '"never"',
  "retention.snapshot_days": "30",
  "validate.commands": '["test: npm test"]',
  "policy.protected": '["infra/**"]',
  "policy.raise": '["binary: block"]',
  "policy.lower": "[]",
};

test.each(Object.entries(HARMLESS))("%s = %s in an untrusted file is used", (key, value) => {
  const resolved = loaded({ repository: inFile(key, value) });
  expect(resolved.notices).toEqual([]);
  expect(resolved.origins.find((origin) => origin.key === key)?.origin).toBe("repository file");
});

test("a notice can be copied into a shell, whatever the repository wrote", () => {
  const repository = `[overlay]\ninclude = ["*.local", "a'; reboot; '"]\n`;
  const [notice] = loaded({ repository }).notices;
  expect(notice).toContain(`pass --overlay '*.local' --overlay 'a'\\''; reboot; '\\'''.`);
});

function inFile(key: string, value: string): string {
  const [section, name] = key.split(".");
  return `[${section}]\n${name} = ${value}\n`;
}
