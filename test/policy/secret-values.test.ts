import { expect, test } from "vitest";
import { readEnvFile } from "../../src/policy/env-file.ts";
import { canBeSecret, needlesOf } from "../../src/policy/secret-values.ts";

test("a .env file is read as the usual libraries read it", () => {
  const text = `\uFEFF# comment
PLAIN=abc
export TOKEN = "with spaces" # why
SINGLE='it''s'
COMMENT=abc # def
HASH=abc#def
EMPTY=
KEY="-----BEGIN
middle=1
END-----"
yaml: value
no assignment
AFTER=last\r
`;
  expect(readEnvFile(text).map(({ name, value }) => `${name}=${value}`)).toEqual([
    "PLAIN=abc",
    "TOKEN=with spaces",
    "SINGLE=it''s",
    "COMMENT=abc",
    "HASH=abc#def",
    "EMPTY=",
    "KEY=-----BEGIN\nmiddle=1\nEND-----",
    "yaml=value",
    "AFTER=last",
  ]);
});

test("a quote in the comment behind a quoted value is not part of it", () => {
  const text = `A="one" # it's "quoted" here\nB='two' # don't\nC="a # b"\nD="x\\"y" # "z"\nE='it''s' # 's'\n`;
  expect(readEnvFile(text).map(({ name, value }) => `${name}=${value}`)).toEqual([
    "A=one",
    "B=two",
    "C=a # b",
    String.raw`D=x\"y`,
    "E=it''s",
  ]);
});

test("a quote that is never closed takes its own line alone", () => {
  expect(readEnvFile('A="open\nB=next')).toEqual([
    { name: "A", value: "open" },
    { name: "B", value: "next" },
  ]);
});

test.each([
  ["DB_PASSWORD", "correct-horse-42"],
  ["API_TOKEN", "tok_9f8e7d6c"],
  ["STRIPE", "sk_test_4eC39HqLyjWDarjtT1zdp7dc"],
  ["DATABASE_URL", "postgres://app:s3cr3tPw@db.acme.io/app"],
  ["SESSION_SECRET", "8f14e45fceea167a"],
  // In base64, which may begin with a slash.
  ["SECRET_KEY", "/wJalrXUtnFEMI7K/MDENGbPxRfiCY"],
  ["BOT_TOKEN", "7.1.Zm9vYmFyQmF6MTIzNDU2"],
  ["DATABASE_URL", "postgres://app:s3cr3tPw@db.example.com/app"],
])("%s=%s is looked for", (name, value) => {
  expect(canBeSecret(name, value)).toBe(true);
});

test.each([
  ["DB_PASSWORD", "short"],
  ["DB_PASSWORD", "postgres"],
  ["SECRET_KEY", "development"],
  ["API_KEY", "your-api-key-here-12"],
  ["API_TOKEN", "changeme123"],
  ["NODE_ENV", "production"],
  ["PORT_KEY", "12345678"],
  ["API_URL_KEY", "https://api.acme.io/v1"],
  ["KEY_FILE", "/etc/ssl/private/server.key"],
  ["KEY_FILE", "./certs/server-1.pem"],
  ["AWS_REGION_KEY", "eu-central-1"],
  ["DB_HOST", "db1.internal.acme.io:5432"],
  ["AUTH_MAIL", "ada.l1@example.com"],
  ["APP_VERSION_KEY", "v1.22.333-rc.1"],
  ["FEATURES", "one two three four5"],
])("%s=%s is not", (name, value) => {
  expect(canBeSecret(name, value)).toBe(false);
});

test("a value is found in base64 at every alignment, in both alphabets", () => {
  const value = "p>?a~ss-W0rd~~??";
  for (const before of ["", "a", "ab", "abc"])
    for (const after of ["", "z", "zz"])
      for (const alphabet of ["base64", "base64url"] as const) {
        const text = Buffer.from(`${before}${value}${after}`).toString(alphabet);
        const found = needlesOf(value).filter((needle) => text.includes(needle.text));
        expect(
          found.map((one) => one.form),
          text,
        ).toContain(", in base64");
      }
});

test("a value is found with its line ends escaped, percent-encoded, and as the password of an address", () => {
  const forms = (value: string) => needlesOf(value).map((one) => one.text);
  expect(forms("line one 1\nline two 2")).toContain("line one 1\\nline two 2");
  expect(forms("a/b+c=d&e1234")).toContain("a%2Fb%2Bc%3Dd%26e1234");
  expect(forms("postgres://app:s3cr3tPw@db.acme.io/app")).toContain("s3cr3tPw");
});
