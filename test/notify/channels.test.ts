import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { commandChannel } from "../../src/notify/command.ts";
import { postChannel } from "../../src/notify/http-post.ts";
import type { Notification } from "../../src/notify/notification.ts";
import { notifyTarget } from "../../src/notify/target.ts";
import { listener } from "./listener.ts";

const READY: Notification = {
  version: 1,
  kind: "ready",
  at: "2026-11-29T22:00:00.000Z",
  repository: "shop",
  run: "261129-220000-abcde",
  task: "T1",
  branch: "agent/T1-261129-220000-abcde",
  code: null,
  title: "guardloop: T1 is ready",
  message: "shop: validation passed, no findings.",
  next: "guardloop review 261129-220000-abcde",
};

const directory = mkdtempSync(join(tmpdir(), "guardloop-notify-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function program(name: string, script: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const BASE = { PATH: `${directory}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: directory };
const at = { base: BASE, cwd: directory };

test("a POST carries the notification and one text to show", async () => {
  await using server = await listener();
  const sent = await postChannel(new URL(`${server.url}/hook?key=1`)).send(READY);
  expect(sent).toEqual({ ok: true, value: undefined });
  expect(server.posted).toEqual([
    {
      method: "POST",
      path: "/hook?key=1",
      body: { ...READY, text: `${READY.title}: ${READY.message} ${READY.next}` },
    },
  ]);
});

test("an overloaded server is tried again, and the third answer counts", async () => {
  await using server = await listener([
    (response) => response.writeHead(503).end(),
    (response) => response.writeHead(429).end(),
    (response) => response.writeHead(204).end(),
  ]);
  expect((await postChannel(new URL(server.url)).send(READY)).ok).toBe(true);
  expect(server.posted).toHaveLength(3);
}, 20_000);

test.each([
  [404, "answered with status 404."],
  [302, "answered with a redirect (302), which is not followed."],
])(
  "an answer %i is not tried again, and the key in the address is not repeated",
  async (status, said) => {
    await using elsewhere = await listener();
    await using server = await listener([
      (response) => response.writeHead(status, { location: elsewhere.url }).end(),
    ]);
    const url = new URL(`${server.url}/s3cr3t-key`);
    expect(await postChannel(url).send(READY)).toEqual({
      ok: false,
      error: `notify.url (${url.host}) ${said}`,
    });
    expect([server.posted.length, elsewhere.posted.length]).toEqual([1, 0]);
  },
);

test("an answer without an end does not hold the notification up", async () => {
  await using server = await listener([
    (response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write("x".repeat(65_536)), 1);
      response.on("close", () => clearInterval(more));
    },
  ]);
  expect((await postChannel(new URL(server.url)).send(READY)).ok).toBe(true);
});

test("nobody at the address: the reason is named", async () => {
  const gone = await listener();
  await gone[Symbol.asyncDispose]();
  const { host } = new URL(gone.url);
  expect(await postChannel(new URL(`${gone.url}/key`)).send(READY)).toEqual({
    ok: false,
    error: `notify.url (${host}) could not be reached (ECONNREFUSED).`,
  });
}, 20_000);

test("a program gets title and message as arguments, JSON on standard input, and a built environment", async () => {
  program(
    "told",
    `printf '%s\\n' "$@" > "$HOME/args"; cat > "$HOME/json"; env | sort > "$HOME/env"`,
  );
  const sent = await commandChannel(["told", "--urgency=low"], at).send(READY);
  expect(sent).toEqual({ ok: true, value: undefined });
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  expect(read("args")).toBe(`--urgency=low\n${READY.title}\n${READY.message}\n`);
  expect(JSON.parse(read("json"))).toEqual(READY);
  expect(read("env").match(/^\w+(?==)/gm)).toEqual(
    expect.arrayContaining(["GUARDLOOP_KIND", "GUARDLOOP_RUN", "GUARDLOOP_TASK", "HOME", "PATH"]),
  );
  // PWD and the like are the shell's own.
  expect(read("env")).not.toMatch(/^(?:XDG|GIT|VITEST|NODE)_?/m);
});

test.each([
  ["it fails", ["fails"], "ended with status 3: no<U+001B>[31m display."],
  ["it is not there", ["nothing-of-that-name"], "is not on PATH."],
  ["it cannot be started", ["/etc/passwd"], "could not be started (EACCES)."],
])("when %s, that is one sentence", async (_, words, said) => {
  program("fails", `echo first >&2; printf 'no\\033[31m display.\\n' >&2; exit 3`);
  const [name = "", ...rest] = words;
  expect(await commandChannel([name, ...rest], at).send(READY)).toEqual({
    ok: false,
    error: `notify.command (${name}) ${said}`,
  });
});

test("an address can be read from a variable, and is never repeated when it is wrong", () => {
  const read = (name: string) =>
    ({ HOOK: "https://example.invalid/k", BAD: "ftp://k", USER_IN: "https://a:b@c/" })[name];
  expect(notifyTarget("env:HOOK", read)).toEqual({
    ok: true,
    value: new URL("https://example.invalid/k"),
  });
  const message = (written: string) => {
    const target = notifyTarget(written, read);
    return target.ok ? "" : target.error.message;
  };
  expect(message("env:NONE")).toBe("The variable NONE, which notify.url names, is not set.");
  expect(message("env:BAD")).toBe(
    "The variable BAD, which notify.url names, is not an address that begins with https:// or http://.",
  );
  expect(message("env:USER_IN")).toBe(
    "The variable USER_IN, which notify.url names, has a user name or a password in the address.",
  );
  expect(message("https://user:secret@host/")).toBe(
    "notify.url has a user name or a password in the address.",
  );
});
