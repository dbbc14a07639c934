import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { parseReference } from "../../src/gateway/credentials/reference.ts";
import { readCredential } from "../../src/gateway/credentials/read-credential.ts";
import { type Home, credentialOf, homeWith, missing } from "./credentials-rig.ts";

const KEY = "sk-proj-4711abcdefgh";

async function program(home: Home, script: string): Promise<string> {
  const path = join(home.path, "give key");
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

test("none needs nothing", async () => {
  const home = await homeWith();
  const none = parseReference("none");
  const services = { env: home.env, onNotice: () => {} };
  if (!none.ok) throw new Error(none.error);
  expect(
    await readCredential(none.value, { ...services, provider: "compatible", agent: "opencode" }),
  ).toEqual({ ok: true, value: null });
});

test("a variable is read once, and the value is in no property of what holds it", async () => {
  const home = await homeWith({ OPENAI_API_KEY: KEY });
  const { credential, notices } = await credentialOf("env:OPENAI_API_KEY", { home });
  expect(await credential.value()).toEqual({
    ok: true,
    value: { kind: "key", secret: KEY, headers: {} },
  });
  expect(credential.shown).toBe("env:OPENAI_API_KEY");
  expect(credential.secrets()).toEqual([KEY]);
  expect(notices).toEqual([]);
  expect(
    `${JSON.stringify(credential)}${inspect(credential, { depth: 9, showHidden: true })}`,
  ).not.toContain("4711");
});

test("a variable that is not set, or empty, or of two lines, is said with what to do", async () => {
  const home = await homeWith({
    EMPTY: "",
    LINES: `${KEY}\n${KEY}`,
    UMLAUT: "schlüssel",
    PAD: " a",
  });
  const failure = await missing("env:GONE", { home });
  expect(failure).toMatchObject({
    code: "credential-missing",
    message:
      "The credential of credential.openai = env:GONE cannot be used: the variable GONE is not set.",
    cure: "Correct that, or set credential.openai to another place; see docs/credentials.md.",
  });
  const said = async (name: string) => (await missing(`env:${name}`, { home })).message;
  expect(await said("EMPTY")).toContain("the variable EMPTY is empty.");
  expect(await said("LINES")).toContain("the variable LINES holds more than one line.");
  expect(await said("LINES")).not.toContain("4711");
  expect(await said("UMLAUT")).toContain("cannot be sent in a header");
  expect(await said("PAD")).toContain("begins or ends with a space");
});

test("a file is read without its last line feed, also through a link of the user's own", async () => {
  const home = await homeWith();
  await mkdir(join(home.path, ".keys"));
  await writeFile(join(home.path, ".keys/real"), `${KEY}\n`, { mode: 0o600 });
  await symlink("real", join(home.path, ".keys/openai"));
  const { credential, notices } = await credentialOf("file:~/.keys/openai", { home });
  expect(credential.secrets()).toEqual([KEY]);
  expect(credential.shown).toBe("file:~/.keys/openai");
  expect(notices).toEqual([]);
});

test("a file that others can read is used, and said", async () => {
  const home = await homeWith();
  const path = join(home.path, "key");
  await writeFile(path, KEY);
  await chmod(path, 0o640);
  const { notices } = await credentialOf(`file:${path}`, { home });
  expect(notices).toEqual([
    `Others can read ${path}, which holds a credential (mode 640); run chmod 600 on it.`,
  ]);
});

test("no file, a directory, a FIFO that nobody writes to, and a file that is too large", async () => {
  const home = await homeWith();
  const at = (name: string) => join(home.path, name);
  await mkdir(at("directory"));
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", at("fifo")]);
  await writeFile(at("large"), "k".repeat(64 * 1024 + 1));
  await writeFile(at("nul"), `${KEY}\0`);
  const said = async (name: string) => (await missing(`file:~/${name}`, { home })).message;
  expect(await said("gone")).toContain("~/gone is not there.");
  expect(await said("directory")).toContain("~/directory is not a regular file.");
  expect(await said("fifo")).toContain("~/fifo is not a regular file.");
  expect(await said("large")).toContain("~/large is larger than 64 KiB.");
  expect(await said("nul")).toContain("~/nul holds characters that cannot be sent in a header");
  expect(await said("nul")).not.toContain("4711");
});

test("a command's first line is the credential; it sees what a password manager needs, and no more", async () => {
  const home = await homeWith({
    GNUPGHOME: "/gpg",
    XDG_RUNTIME_DIR: "/run/user/7",
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/bus",
    GUARD_MEMORY: "1g",
    OPENAI_API_KEY: "other",
  });
  const path = await program(
    home,
    `printf '%s\\r\\nsecond line\\n' "$1-${KEY}"; env > "$HOME/seen"; pwd >> "$HOME/seen"`,
  );
  const { credential } = await credentialOf(`command:'${path}' 'a  b'`, { home });
  expect(credential.secrets()).toEqual([`a  b-${KEY}`]);
  expect(credential.shown).toBe(`command:${path} …`);
  const seen = execFileSync("cat", [join(home.path, "seen")], { encoding: "utf8" });
  const names = seen.split("\n").map((line) => line.split("=")[0]);
  expect(names).toEqual(
    expect.arrayContaining([
      "PATH",
      "HOME",
      "GNUPGHOME",
      "XDG_RUNTIME_DIR",
      "DBUS_SESSION_BUS_ADDRESS",
    ]),
  );
  expect(names).not.toContain("GUARD_MEMORY");
  expect(names).not.toContain("OPENAI_API_KEY");
  expect(seen.trimEnd().endsWith("\n/")).toBe(true);
});

test("a command on PATH is found; one that is not there is said", async () => {
  const home = await homeWith();
  const { credential } = await credentialOf(`command:echo ${KEY}`, { home });
  expect(credential.secrets()).toEqual([KEY]);
  expect((await missing("command:no-such-program x", { home })).message).toBe(
    "The credential of credential.openai = command:no-such-program … cannot be used: the program no-such-program is not on PATH.",
  );
  expect((await missing("command:/no/such", { home })).message).toContain(
    "the program /no/such could not be started (ENOENT)",
  );
});

test("a command that fails is quoted, but never what looks like a value", async () => {
  const home = await homeWith();
  const path = await program(
    home,
    `case $1 in
  plain) echo 'first' >&2; echo 'Error: openai/key is not in the password store.' >&2 ;;
  leak) echo "the key is ${KEY}!" >&2 ;;
  both) echo "secretword"; echo "secretword is locked" >&2 ;;
  quiet) ;;
esac
exit 3`,
  );
  const said = async (word: string) => {
    const { message } = await missing(`command:'${path}' ${word}`, { home });
    return message.slice(message.indexOf("give key ended") + 9);
  };
  expect(await said("plain")).toBe(
    "ended with status 3 (Error: openai/key is not in the password store).",
  );
  expect(await said("leak")).toBe("ended with status 3 (the key is …).");
  expect(await said("both")).toBe("ended with status 3.");
  expect(await said("quiet")).toBe("ended with status 3.");
});

test("a command that prints nothing, or a picture, is refused without quoting it", async () => {
  const home = await homeWith();
  const path = await program(home, `test "$1" = nothing || printf '\\033]0;4711\\007\\n'`);
  const said = async (word: string) =>
    (await missing(`command:'${path}' ${word}`, { home })).message;
  expect(await said("nothing")).toContain("the first line that");
  expect(await said("nothing")).toContain("printed is empty.");
  expect(await said("picture")).toContain("cannot be sent in a header");
  expect(await said("picture")).not.toContain("4711");
});

test("a token of claude setup-token is a login, and an API key is none", async () => {
  const token = "sk-ant-oat01-4711abcdefgh";
  const home = await homeWith({ CLAUDE_CODE_OAUTH_TOKEN: token, ANTHROPIC_API_KEY: token });
  const claude = { home, provider: "anthropic", agent: "claude" } as const;
  const failure = await missing("env:ANTHROPIC_API_KEY", claude);
  expect(failure.message).toContain(
    "it holds a token of `claude setup-token`, which is not an API key.",
  );
  expect(failure.cure).toContain("login:claude");
  const { credential } = await credentialOf("login:claude", claude);
  expect(await credential.value()).toEqual({
    ok: true,
    value: {
      kind: "bearer",
      secret: token,
      headers: { "anthropic-beta": "oauth-2025-04-20" },
    },
  });
  expect(credential.shown).toBe("login:claude");
  const swapped = await homeWith({ CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-api03-4711" });
  expect((await missing("login:claude", { ...claude, home: swapped })).message).toContain(
    "what is kept for it is an API key",
  );
});

test("the token of login:claude may also stand in a file of guardloop's", async () => {
  const home = await homeWith();
  const claude = { home, provider: "anthropic", agent: "claude" } as const;
  const failure = await missing("login:claude", claude);
  const path = join(home.path, ".config/guardloop/claude-token");
  expect(failure.message).toContain(
    `CLAUDE_CODE_OAUTH_TOKEN is not set, and ${path} is not there.`,
  );
  expect(failure.cure).toContain("claude setup-token");
  await mkdir(join(home.path, ".config/guardloop"), { recursive: true });
  await writeFile(path, "sk-ant-oat01-4711\n", { mode: 0o600 });
  expect((await credentialOf("login:claude", claude)).credential.secrets()).toEqual([
    "sk-ant-oat01-4711",
  ]);
});

test("a login is for its own agent only", async () => {
  const home = await homeWith({ CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-4711" });
  const failure = await missing("login:claude", { home, provider: "anthropic", agent: "opencode" });
  expect(failure.message).toBe(
    "The credential of credential.anthropic = login:claude cannot be used: this login is for the agent claude and the provider anthropic only, not for opencode with anthropic.",
  );
  expect(failure.cure).toContain("API key");
  expect((await missing("login:codex", { home, agent: "opencode" })).message).toContain(
    "this login is for the agent codex",
  );
});
