import { describe, expect, test } from "vitest";
import { SECRET_RULES } from "../../src/policy/secret-rules.ts";
import { secretsIn } from "../../src/policy/secret-scan.ts";

const LETTERS = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vWyZ1";
/** Made up, of the right length and alphabet. */
function made(length: number): string {
  return LETTERS.repeat(10).slice(0, length);
}

const HEX = "0a9b8c7d6e5f4a3b2c1d";
const PEM = `-----BEGIN RSA PRIVATE KEY-----\nMIIE${made(60)}\n${made(64)}\n-----END RSA PRIVATE KEY-----`;

/** Its base64 ends as the rule wants it: with the brace alone in the last group. */
const ACCOUNT = ["", "1", "11"]
  .map((pad) => `{"email":"a@b.lcl","secretKey":"${made(43)}","srpX":"${made(64)}${pad}"}`)
  .find((text) => text.length % 3 === 1)!;

/** Something that each rule of secretlint finds: its hint must let it through. */
const OF_RULES: Readonly<Record<string, string>> = {
  "an AWS secret key": `aws_secret_access_key = "${made(40)}"`,
  "a Google service account": JSON.stringify({ private_key_id: "1", private_key: PEM }),
  "a private key": PEM,
  "a password in an address": `https://deploy:${made(20)}@git.acme.io/x`,
  "a database password": `postgres://app:${made(20)}@db.acme.io/app`,
  "a Databricks token": `dapi${HEX.repeat(2).slice(0, 32)}`,
  "a Docker token": `dckr_pat_${made(27)}`,
  "a Vault token": `hvs.${made(95)}`,
  "a 1Password token": `ops_${Buffer.from(ACCOUNT).toString("base64")}`,
  "an npm token": `npm_${made(36)}`,
  "a Slack token": `https://hooks.slack.com/services/T${made(8)}/B${made(8)}/${made(24)}`,
  "a SendGrid key": `SG.${made(22)}.${made(43)}`,
  "a Shopify token": `shpat_${made(32)}`,
  "a GitHub token": `github_pat_${made(82)}`,
  "a GitLab token": `glpat-${made(20)}`,
  "a Grafana token": `glsa_${made(32)}_${HEX.slice(0, 8)}`,
  "an OpenAI key": `sk-${made(20)}T3BlbkFJ${made(20)}`,
  "an Anthropic key": `sk-ant-api03-${made(93)}AA`,
  "a Linear key": `lin_api_${made(40)}`,
  "a Figma token": `figd_${made(40)}`,
};

describe("the rules of secretlint", () => {
  test.each(Object.entries(OF_RULES))("find %s", async (what, text) => {
    const rule = SECRET_RULES.find((one) => one.what === what);
    expect(rule?.hint.test(text)).toBe(true);
    const found = await secretsIn({ path: "a.json", text });
    expect(found.map((one) => one.what)).toContain(what);
  });

  test("are all tried above", async () => {
    const whats = SECRET_RULES.map((rule) => rule.what);
    expect(whats.toSorted()).toEqual(Object.keys(OF_RULES).toSorted());
  });
});

describe("our own patterns find what those rules miss", () => {
  test.each([
    ["an AWS access key", `id = AKIA${made(16).toUpperCase()}`],
    ["an Anthropic key", `sk-ant-oat01-${made(40)}`],
    ["an Anthropic key", `sk-ant-ort01-${made(40)}`],
    ["an Anthropic key", `sk-ant-sid01-${made(40)}`],
    ["an OpenAI key", `sk-proj-${made(48)}`],
    ["a Google API key", `AIza${made(35)}`],
    ["a Stripe live key", `sk_live_${made(24)}`],
    ["a JSON web token", `eyJ${made(20)}.eyJ${made(40)}.${made(43)}`],
    ["a refresh token", `{"tokens": {"refresh_token": "${made(40)}"}}`],
    ["a refresh token", `"refreshToken":"${made(40)}"`],
    ["an npm token", `//registry.acme.io/:_authToken=${made(36)}`],
    ["an Azure account key", `AccountName=a;AccountKey=${made(86)}==;`],
    ["a private key", `"-----BEGIN PRIVATE KEY-----\\nMIIE${made(64)}"`],
  ])("%s", async (what, text) => {
    const found = await secretsIn({ path: "a.ts", text });
    expect(found).toContainEqual({ what, certainty: "known", offset: expect.any(Number) });
  });
});

test("a comment in the text does not switch the search off", async () => {
  const token = `ghp_${made(36)}`;
  for (const text of [
    `# secretlint-disable\n${token}\n# secretlint-enable\n`,
    `/* secretlint-disable @secretlint/secretlint-rule-github -- x */\n${token}`,
    `// secretlint-disable-next-line\n${token}`,
    `${token} // gitleaks:allow`,
  ])
    expect(await secretsIn({ path: "a.ts", text }), text).not.toEqual([]);
});

test.each([
  ["AWS's own example", "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
  ["an example of the key's form", `sk-ant-api03-EXAMPLE${made(30)}`],
  ["a key of x", `ghp_${"x".repeat(36)}`],
  ["the header of a key alone", "It begins with -----BEGIN RSA PRIVATE KEY-----."],
  ["a key with dots for its body", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----"],
  ["a pattern for keys", "/-----BEGIN [A-Z ]+PRIVATE KEY-----/"],
  [
    "the sample of jwt.io",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
  ],
  ["an address in a template", "postgres://${USER}:${PASSWORD}@db/app"],
  ["an address of the documentation", `https://ada:${made(12)}@example.com/`],
  ["a class of a style sheet", ".sk-estimator-doc-link-with-a-very-long-name { color: red }"],
  ["a property of a module", "SG.SomeModule1234567.someFunction"],
  ["a password from the environment", 'password = "${DB_PASSWORD}"'],
  ["a message about passwords", 'password: "must-have-twelve-letters"'],
])("%s is nothing", async (_, text) => {
  expect(await secretsIn({ path: "README.md", text })).toEqual([]);
});

test.each([
  ["a random value with a telling name", `const apiKey = "${made(24)}";`],
  ["the header of a key on a line of its own", "-----BEGIN RSA PRIVATE KEY-----\n"],
  ["the password of a compose file", "DATABASE_URL=postgres://app:hunter@db:5432/app"],
])("%s is only suspected", async (_, text) => {
  const found = await secretsIn({ path: "a.ts", text });
  expect(found.map((one) => one.certainty)).toEqual(["suspected"]);
});

test("the place is told, the value is not", async () => {
  const token = `ghp_${made(36)}`;
  const found = await secretsIn({ path: "a.ts", text: `first\n${token}\n` });
  expect(found[0]?.offset).toBe(6);
  expect(JSON.stringify(found)).not.toContain(token);
});

test("a text made to keep a search busy is done with quickly", { timeout: 30_000 }, async () => {
  for (const piece of [
    "eyJ",
    "eyJa.",
    "-----BEGIN PRIVATE KEY-----",
    "sk-ant-api03-",
    'token="',
    "https://a:b",
    "postgres://a:",
  ])
    expect(
      await secretsIn({ path: "a.ts", text: piece.repeat(1_000_000 / piece.length) }),
      piece,
    ).toBeInstanceOf(Array);
});
