import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { GatewaySpec } from "../../src/core/egress.ts";
import { rereadSecrets } from "../../src/gateway/credentials/reread.ts";
import { openPrincipal } from "../../src/git/principal.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { redactorInUse } from "../../src/run/logs/redactions-in-use.ts";
import { gatherSecrets } from "../../src/run/review/secret-facts.ts";
import { type SecretSources, secretsInUse } from "../../src/run/review/secrets-in-use.ts";
import { homeWith } from "./credentials-rig.ts";

const KEY = "sk-proj-4711abcdefgh";

function sources(credential: string | null): SecretSources {
  // What is not asked for is not there.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { agent: { passEnv: [] }, gateway: { credential } as unknown as GatewaySpec };
}

/** A repository of the user's, and what a review in it works with. */
async function servicesIn(variables: Readonly<Record<string, string>> = {}) {
  const home = await homeWith(variables);
  execFileSync("git", ["init", "-q", "-b", "main", join(home.path, "repo")]);
  const git = findProgram("git", home.env.path) ?? "git";
  const principal = await openPrincipal(git, home.env, join(home.path, "repo"));
  if (!principal.ok) throw new Error(principal.error.message);
  return { home, services: { env: home.env, principal: principal.value } };
}

test("the gateway's credential is taken out of logs, also one that was renewed meanwhile", async () => {
  const { services } = await servicesIn();
  const secrets = [KEY];
  const credential = { shown: "login:codex", secrets: () => secrets };
  const redactor = await redactorInUse({ ...services, credential }, sources("login:codex"));
  secrets.push("second-4712-value");
  const base64 = Buffer.from(`Bearer ${KEY}`).toString("base64");
  const clean = redactor.text(`${KEY} ${JSON.stringify({ k: KEY })} ${base64} second-4712-value`);
  expect(clean).not.toContain("4711");
  expect(clean).not.toContain("4712");
  expect(clean).toContain("[redacted: credential login_codex]");
  expect(clean).toContain("[redacted: credential login_codex, in base64]");
});

test("in another process the reference of the record is looked up again", async () => {
  const { services } = await servicesIn({ MODEL_KEY: KEY });
  const redactor = await redactorInUse(services, sources("env:MODEL_KEY"));
  expect(redactor.text(`key ${KEY}`)).toBe("key [redacted: MODEL_KEY of the environment]");
});

test("a run makes its redactor once: the stages get the one that is there", async () => {
  const { services } = await servicesIn({ MODEL_KEY: KEY });
  const redactor = await redactorInUse(services, sources("env:MODEL_KEY"));
  expect(await redactorInUse({ ...services, redactor }, sources(null))).toBe(redactor);
});

test("a branch that holds the credential has a finding with its name, not its value", async () => {
  const { services } = await servicesIn();
  const credential = { shown: "env:MODEL_KEY", secrets: () => [KEY] };
  const inUse = await secretsInUse({ ...services, credential }, sources("env:MODEL_KEY"));
  if (!inUse.ok) throw new Error(inUse.error.message);
  const line = { path: "src/a.ts", line: `const key = "${KEY}";`, lineNumber: 3 };
  const { secretsInUse: found } = await gatherSecrets([line], [], inUse.value);
  expect(found).toEqual([
    { where: "src/a.ts:3", what: "MODEL_KEY of the environment", certainty: "known" },
  ]);
});

test("a local server's key that is a word of everyday does not block what says it", async () => {
  const { services } = await servicesIn();
  const credential = { shown: "env:LOCAL_KEY", secrets: () => ["ollama"] };
  const inUse = await secretsInUse({ ...services, credential }, sources("env:LOCAL_KEY"));
  expect(inUse.ok && inUse.value.secrets).toEqual([]);
  const redactor = await redactorInUse({ ...services, credential }, sources("env:LOCAL_KEY"));
  expect(redactor.text("ollama run")).toBe("ollama run");
});

test("variables, files and logins are looked up again; a command is not run, and what is gone is nothing", async () => {
  const { home } = await servicesIn({ MODEL_KEY: KEY, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-1" });
  const again = (shown: string) => rereadSecrets(shown, home.env);
  const marker = join(home.path, "ran");
  await writeFile(join(home.path, "key"), `${KEY}\n`);
  await mkdir(join(home.path, ".codex"));
  const tokens = { access_token: "a.b.c", refresh_token: "rt", account_id: "acc" };
  await writeFile(join(home.path, ".codex/auth.json"), JSON.stringify({ tokens }));
  expect(await again("env:MODEL_KEY")).toEqual([KEY]);
  expect(await again("file:~/key")).toEqual([KEY]);
  expect(await again("login:claude")).toEqual(["sk-ant-oat01-1"]);
  expect(await again("login:codex")).toEqual(["a.b.c", "rt"]);
  expect(await again(`command:touch ${marker}`)).toEqual([]);
  expect(() => execFileSync("test", ["-e", marker])).toThrow();
  for (const gone of ["env:GONE", "file:~/gone", "none", "", "sk-4711"])
    expect(await again(gone)).toEqual([]);
});
