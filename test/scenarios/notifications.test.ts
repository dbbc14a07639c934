import { readFileSync, writeFileSync, existsSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { listener } from "../notify/listener.ts";
import { ending, refuse, succeed } from "../rig/lifecycle.ts";
import { openTerminal } from "../rig/terminal.ts";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

test("a good night: each result is told, and at the end what waits for a decision", async () => {
  using world = makeWorld();
  await using server = await listener();
  const ended = await world.run(GOOD_AGENT, ["--max-tasks", "2", "--notify-url", server.url]);
  expect(ending(ended)).toBe("exit 0");
  const [second, first] = await runsOf(world);
  const told = server.posted.map(({ body: { kind, run, title } }) => ({ kind, run, title }));
  expect(told).toHaveLength(3);
  expect(told).toEqual(
    expect.arrayContaining([
      { kind: "ready", run: first?.id, title: "guardloop: T1 is ready" },
      { kind: "ready", run: second?.id, title: "guardloop: T2 is ready" },
      { kind: "waiting", run: null, title: "guardloop: 2 results wait for you" },
    ]),
  );
  expect(server.posted.find(({ body }) => body["run"] === first?.id)?.body).toMatchObject({
    repository: "shop",
    task: "T1",
    branch: first?.branch,
    message: "shop: not validated, no findings.",
    next: `guardloop review ${first?.id}`,
  });
  expect(JSON.stringify(server.posted)).not.toContain(world.root);
});

test("a failed run is told with its code, and only what notify.on names is", async () => {
  using world = makeWorld();
  await using server = await listener();
  const flags = ["--notify-url", server.url, "--notify-on", "ready"];
  await world.run("true", flags);
  expect(server.posted).toEqual([]);
  await world.run("true", ["--notify-url", server.url]);
  const [run] = await runsOf(world);
  expect(server.posted.map(({ body }) => body)).toMatchObject([
    { kind: "failed", run: run?.id, code: "missing-task-id", next: `guardloop show ${run?.id}` },
  ]);
});

test("a notification that fails is a note and changes nothing about the run", async () => {
  using world = makeWorld();
  const ended = await world.run(GOOD_AGENT, [
    "--notify-command",
    "no-such-program",
    "--notify-url",
    "http://127.0.0.1:9/secret-key",
  ]);
  expect(ending(ended)).toBe("exit 0");
  expect(ended.stderr).toContain(
    "A notification did not arrive: notify.command (no-such-program) is not on PATH.",
  );
  expect(ended.stderr).toContain("A notification did not arrive: notify.url (127.0.0.1:9) ");
  expect(ended.stderr + ended.stdout).not.toContain("secret-key");
  const shown = await succeed(world, ["show", "@last"]);
  const spec = await succeed(world, ["show", "@last", "--json"]);
  expect(shown.stdout + spec.stdout).toContain("http://127.0.0.1:9/…");
  expect(shown.stdout + spec.stdout).not.toContain("secret-key");
});

test("a slow program does not hold up the next run", async () => {
  using world = makeWorld();
  const go = join(world.root, "go");
  const told = join(world.root, "told");
  const path = join(world.bin, "slow");
  writeFileSync(
    path,
    `#!/bin/sh\ncase "$1" in *T1*) while [ ! -e ${go} ]; do sleep 0.05; done;; esac\necho "$1" >> ${told}\n`,
  );
  chmodSync(path, 0o755);
  const ended = world.run(GOOD_AGENT, ["--max-tasks", "2", "--notify-command", path]);
  // The second run's notification is there while the first's is still waiting to be let go.
  while (!existsSync(told)) await delay(50);
  expect(readFileSync(told, "utf8").split("\n")[0]).not.toContain("T1");
  writeFileSync(go, "");
  expect(ending(await ended)).toBe("exit 0");
  expect(readFileSync(told, "utf8")).toContain("guardloop: T1 is ready");
});

test("a night is refused before it begins when nobody could be told", async () => {
  using world = makeWorld();
  const args = ["run", "--agent", "command", "--notify-url", "env:HOOK", "--", "true"];
  const { message } = await refuse(world, args, { status: 2, code: "config-invalid" });
  expect(message).toBe("The variable HOOK, which notify.url names, is not set.");
  expect(await runsOf(world)).toEqual([]);
});

test("a repository cannot name a program or an address by itself", async () => {
  using world = makeWorld();
  await using server = await listener();
  const touched = join(world.root, "touched");
  world.write(
    "guardloop.toml",
    `[notify]\ncommand = ["touch", "${touched}"]\nurl = "${server.url}"\n`,
  );
  world.commit("Tell me");
  const ended = await world.run(GOOD_AGENT);
  expect(ending(ended)).toBe("exit 0");
  expect(ended.stderr).toContain("guardloop.toml:2:1 notify.command = ");
  expect([existsSync(touched), server.posted.length]).toEqual([false, 0]);
});

test("Ctrl-C is not told: the person is there", async () => {
  using world = makeWorld();
  await using server = await listener();
  const started = join(world.root, "started");
  let pid = 0;
  const ended = world.run(`touch ${started}; sleep 60`, ["--notify-url", server.url], {
    onStart: (id) => (pid = id),
  });
  while (!existsSync(started)) await delay(50);
  process.kill(pid, "SIGINT");
  expect((await ended).code).toBe(130);
  expect(server.posted).toEqual([]);
});

test("`notify` tries every way and says which one failed", async () => {
  using world = makeWorld();
  await using server = await listener();
  const good = await succeed(world, ["notify", "--notify-url", server.url]);
  expect(good.stdout).toMatch(/^sent\s+notify\.url \(127\.0\.0\.1:\d+\)\n$/);
  expect(server.posted[0]?.body).toMatchObject({
    kind: "waiting",
    title: "guardloop: this is a test",
  });
  const bad = await world.guardloop([
    "notify",
    "--notify-url",
    server.url,
    "--notify-command",
    "false",
  ]);
  expect([bad.code, bad.stdout]).toEqual([
    1,
    expect.stringContaining("failed  notify.command (false) ended with status 1"),
  ]);
  await refuse(world, ["notify"], { status: 2, code: "config-invalid" });
});

test("the bell rings on a terminal, and nowhere else", async () => {
  using world = makeWorld();
  const args = ["run", "--bell", "--agent", "command", "--", "sh", "-c", "true"];
  const session = openTerminal(world, args);
  await session.ended;
  expect(session.written()).toContain("\u0007");
  const elsewhere = await world.guardloop(args);
  expect(elsewhere.stdout + elsewhere.stderr).not.toContain("\u0007");
});
