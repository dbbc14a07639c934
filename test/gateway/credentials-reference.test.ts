import * as fc from "fast-check";
import { expect, test } from "vitest";
import { loginNotice, loginUpstream } from "../../src/gateway/credentials/logins.ts";
import {
  type Reference,
  describeReference,
  parseReference,
} from "../../src/gateway/credentials/reference.ts";
import { splitWords } from "../../src/gateway/credentials/split-words.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";

function parsed(text: string): Reference {
  const result = parseReference(text);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

function refusal(text: string): string {
  const result = parseReference(text);
  if (result.ok) throw new Error("this reference should have been refused");
  return result.error;
}

test("each form of a reference is understood", () => {
  expect(parsed("none")).toEqual({ kind: "none" });
  expect(parsed("env:OPENAI_API_KEY")).toEqual({ kind: "env", name: "OPENAI_API_KEY" });
  expect(parsed("file:~/.keys/open ai")).toEqual({ kind: "file", path: "~/.keys/open ai" });
  expect(parsed("file:/run/key")).toEqual({ kind: "file", path: "/run/key" });
  expect(parsed("login:claude")).toEqual({ kind: "login", name: "claude" });
  expect(parsed(`command:pass show 'open ai/key' "" a"b c"d`)).toEqual({
    kind: "command",
    words: ["pass", "show", "open ai/key", "", "ab cd"],
  });
  expect(parsed("command: ~/bin/key")).toEqual({ kind: "command", words: ["~/bin/key"] });
});

test("no shell: a dollar, a backslash, a semicolon and a glob are what they are", () => {
  expect(parsed(String.raw`command:p $HOME \'a b\' ; rm * | x`)).toMatchObject({
    words: ["p", "$HOME", "\\a b\\", ";", "rm", "*", "|", "x"],
  });
});

test("what is no reference is refused without repeating it", () => {
  const key = "sk-proj-4711abcdefgh";
  const cases = [
    key,
    "",
    ":",
    "env:",
    `env:${key}`,
    "file:",
    "file:keys/openai",
    `file:../${key}`,
    "command:",
    "command:   ",
    "command:''",
    `command:pass "${key}`,
    "command:bin/key",
    "command:./key",
    "login:",
    `login:${key}`,
    "Env:NAME",
  ];
  for (const text of cases) {
    const sentence = refusal(text);
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence).not.toContain("4711");
  }
  expect(refusal(key)).toBe(
    "A credential is given as env:NAME, file:PATH, command:PROGRAM ARGS, login:NAME or none, never as the key itself.",
  );
  expect(refusal("login:gemini")).toBe(
    "There is no login for Gemini: its API takes API keys only, for example env:GEMINI_API_KEY.",
  );
});

test("a reference is shown as it was written, but of a command only the program", () => {
  for (const text of ["none", "env:A_1", "file:~/x y", "login:codex", "command:/usr/bin/key"])
    expect(describeReference(parsed(text))).toBe(text);
  expect(describeReference(parsed("command:vault read -token=s.4711"))).toBe("command:vault …");
  expect(describeReference(parsed("file:/a\u001b[31m"))).toBe("file:/a<U+001B>[31m");
});

test("a login says under which terms, and where it is good for", () => {
  expect(loginNotice(parsed("login:claude"))).toContain("Anthropic");
  expect(loginNotice(parsed("login:codex"))).toContain("OpenAI");
  expect(loginNotice(parsed("env:A"))).toBeUndefined();
  expect(loginUpstream(parsed("login:codex"))).toBe("https://chatgpt.com/backend-api/codex");
  expect(loginUpstream(parsed("login:claude"))).toBeUndefined();
  expect(loginUpstream(parsed("none"))).toBeUndefined();
});

test("words that were quoted come back as they were", NO_SECOND_TRY, () => {
  const word = fc.string({ unit: fc.constantFrom("a", " ", '"', "\\", "$", "\t", "ü", "*") });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (words) => {
      const line = words.map((one) => `'${one}'`).join("  ");
      expect(splitWords(line)).toEqual({ ok: true, value: words });
    }),
    propertyRuns(300),
  );
});
