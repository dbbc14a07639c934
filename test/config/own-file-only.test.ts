import { expect, test } from "vitest";
import { loaded, originOf, refused } from "./load-rig.ts";

const REFERENCE = "command:pass show openai/key";
const TOML = `[credential]\nopenai = "${REFERENCE}"\n`;
const ELSEWHERE =
  "a command: runs on your machine, so it counts from your own file only; write it into ~/.config/guardloop/config.toml.";

test("a command: reference counts from the user's own file, and its words are not shown", () => {
  const resolved = loaded({ user: TOML });
  expect(resolved.settings.credential.openai).toBe(REFERENCE);
  expect(originOf(resolved, "credential.openai")).toMatchObject({
    value: "command:pass …",
    origin: "user file",
  });
});

test("a command: reference of a repository is an error, even of a trusted one", () => {
  for (const trusted of ["no", "yes"] as const)
    expect(refused({ repository: TOML, trusted })).toMatchObject({
      code: "config-invalid",
      message: `guardloop.toml:2:1 credential.openai = command:pass …: ${ELSEWHERE}`,
    });
});

test("so it is in the environment and as a flag, also where the user's own file says the same", () => {
  const guard = { GUARD_ANTHROPIC_CREDENTIAL: "command:/usr/bin/key" };
  expect(refused({ guard, user: TOML }).message).toBe(
    `GUARD_ANTHROPIC_CREDENTIAL credential.anthropic = command:/usr/bin/key: ${ELSEWHERE}`,
  );
  expect(refused({ flags: { "credential.gemini": REFERENCE } }).message).toBe(
    `--gemini-credential credential.gemini = command:pass …: ${ELSEWHERE}`,
  );
});

test("the other references count from everywhere", () => {
  const guard = { GUARD_OPENAI_CREDENTIAL: "env:OTHER" };
  const flags = { "credential.anthropic": "file:~/.keys/anthropic" };
  const { settings } = loaded({ guard, flags });
  expect(settings.credential).toMatchObject({
    openai: "env:OTHER",
    anthropic: "file:~/.keys/anthropic",
  });
});

test("a key that somebody wrote in place of a reference is refused and not repeated", () => {
  const key = "sk-proj-4711abcdefgh";
  const sources = [
    { repository: `[credential]\nopenai = "${key}"\n` },
    { user: `[credential]\nopenai = "${key}"\n` },
    { guard: { GUARD_OPENAI_CREDENTIAL: key } },
    { flags: { "credential.openai": key } },
  ];
  for (const source of sources) {
    const { message, details } = refused(source);
    expect([message, ...details].join("\n")).not.toContain("4711");
    expect(message).toContain("(hidden)");
    expect(message).toContain(
      "expected env:NAME, file:PATH, command:PROGRAM ARGS, login:NAME or none",
    );
  }
});
