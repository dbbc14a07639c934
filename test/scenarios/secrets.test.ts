import { lstatSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";
import { AGENT_COMMIT, readyRun, succeed } from "../rig/lifecycle.ts";

/** Made up; the quotes keep them from being found in this file. */
const TOKEN = ["ghp", "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vWyZ1aB3d"].join("_");
const GITLAB = ["glpat", "aB3dE5fG7hJ9kL2mN4pQ"].join("-");
const VALUE = "hunter2-Qz81-kettle";

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world[Symbol.dispose]());

async function review(run = "@last") {
  const shown = await succeed(world, ["review", run, "--json"]);
  const { findings } = JSON.parse(shown.stdout) as {
    findings: readonly { code: string; severity: string; paths: readonly string[] }[];
  };
  return new Map(findings.map((one) => [one.code, one]));
}

/** Every file below a directory that holds the text. */
function filesWith(directory: string, text: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) return filesWith(path, text);
    return stat.isFile() && readFileSync(path, "latin1").includes(text) ? [path] : [];
  });
}

function ignoreEnv(text: string, path = ".env"): void {
  world.write(".gitignore", "*.env*\n");
  world.commit("Ignore");
  world.write(path, text);
}

test("a token in added lines is found, also in a block that switches scanners off", async () => {
  await readyRun(
    world,
    `printf 'one\\n# secretlint-disable\\nkey = "%s"\\n# secretlint-enable\\n' '${TOKEN}' > "src/my keys.py"`,
  );
  const findings = await review();
  expect(findings.get("secret-added")).toMatchObject({
    severity: "block",
    paths: ["src/my keys.py:3 (a GitHub token)"],
  });
  expect(findings.get("checks-disabled")?.paths).toEqual(["src/my keys.py:2 (secretlint-disable)"]);
  const shown = await succeed(world, ["review", "@last", "--findings"]);
  expect(shown.stdout).toContain("src/my keys.py:3 (a GitHub token)");
  expect(shown.stdout).not.toContain(TOKEN);
});

test("a private key of several lines is one finding, and a line that looks like a header fools nobody", async () => {
  await readyRun(
    world,
    `{ printf '++ b/harmless.txt\\n@@ -0,0 +1 @@\\n-----BEGIN RSA PRIVATE KEY-----\\n'
       printf 'MIIEaB3dE5fG7hJ9kL2mN4pQ6rS8tU0vWyZ1aB3dE5fG7hJ9kL2mN4pQ6rS8tU0v\\n-----END RSA PRIVATE KEY-----\\n'; } > src/größe.txt`,
  );
  expect((await review()).get("secret-added")?.paths).toEqual(["src/größe.txt:3 (a private key)"]);
});

test("commit messages are searched too", async () => {
  await readyRun(world, `echo x > x; git add x; ${AGENT_COMMIT} -m "With ${TOKEN}" -m "[skip ci]"`);
  const findings = await review();
  expect(findings.get("secret-added")?.paths).toEqual([
    expect.stringMatching(/^commit [0-9a-f]{12} \(a GitHub token\)$/),
  ]);
  expect(findings.get("meaningful-message")?.paths).toEqual([
    expect.stringMatching(/^[0-9a-f]{12} line 5: \[skip ci\]$/),
  ]);
});

test("a token that one commit adds and a later one takes out is found: it would land with the history", async () => {
  const take = `echo 'token = "${TOKEN}"' > conf.py; git add conf.py; ${AGENT_COMMIT}; git rm -q conf.py`;
  const run = await readyRun(world, take);
  expect((await review()).get("secret-added")?.paths).toEqual([
    expect.stringMatching(/^conf\.py:1 in commit [0-9a-f]{12} \(a GitHub token\)$/),
  ]);
  const refused = await world.guardloop(["promote", run.id]);
  expect(refused.code).toBe(3);
  // Squashed, the history does not have it.
  await succeed(world, ["promote", run.id, "--squash"]);
  expect(world.git("log", "-p", "HEAD")).not.toContain(TOKEN);
});

test("placeholders of a document do not block", async () => {
  await readyRun(world, "echo 'Set AKIAIOSFODNN7EXAMPLE or sk-ant-api03-EXAMPLE' > README.md");
  expect((await review()).has("secret-added")).toBe(false);
});

test("what is beyond the limit is said", async () => {
  await readyRun(
    world,
    `awk 'BEGIN { for (i = 0; i < 70000; i++) print "line of text " i }' > big.txt; echo '${TOKEN}' >> big.txt`,
  );
  const findings = await review();
  expect(findings.has("secret-added")).toBe(false);
  expect(findings.get("secret-scan-incomplete")).toMatchObject({
    severity: "warn",
    paths: [expect.stringMatching(/^big\.txt: 1048576 of \d+ added characters were searched$/)],
  });
});

test("a value of the user's .env is found wherever it stands, named by variable and file, never shown", async () => {
  ignoreEnv(`PORT=80801234\nexport DB_PASSWORD="${VALUE}" # mine\n`, "app/.env.local");
  // Put together by the agent: its command line is part of the run's spec.
  await readyRun(
    world,
    `p=hunter2; v="$p-Qz81-kettle"; echo 'port 80801234' > port.txt; echo "connect('$v')" > src/db.js
     printf 'user:%s' "$v" | base64 > auth.txt; printf 'a\\0b%s\\0' "$v" > blob.bin`,
  );
  const found = (await review()).get("secret-in-use");
  expect(found).toMatchObject({ severity: "block" });
  expect(found?.paths).toEqual([
    "auth.txt:1 (DB_PASSWORD of app/.env.local, in base64)",
    "blob.bin:1 (DB_PASSWORD of app/.env.local)",
    "src/db.js:1 (DB_PASSWORD of app/.env.local)",
  ]);
  // The agent's own patches hold what the agent wrote; nothing of guardloop's may.
  const kept = filesWith(world.state, VALUE).filter((path) => !path.includes("/artifacts/"));
  expect(kept).toEqual([]);
});

test("a value of a variable that was passed is found, in a commit message too", async () => {
  const env = { MY_TOKEN: VALUE };
  const script = `echo x > x; git add x; ${AGENT_COMMIT} -m "key $MY_TOKEN"`;
  await world.run(`${script}; ${GOOD_AGENT}`, ["--pass-env", "MY_TOKEN"], { env });
  expect((await review()).get("secret-in-use")?.paths).toEqual([
    expect.stringMatching(/^commit [0-9a-f]{12} \(MY_TOKEN of the environment\)$/),
  ]);
});

test("values in use that do not leak are in no file of the state directory", async () => {
  ignoreEnv(`DB_PASSWORD=${VALUE}\n`);
  const passed = "tok-9f8e7d6c5b4a-Zz";
  await world.run(GOOD_AGENT, ["--pass-env", "MY_TOKEN"], { env: { MY_TOKEN: passed } });
  expect((await review()).has("secret-in-use")).toBe(false);
  for (const value of [VALUE, passed, Buffer.from(VALUE).toString("base64")])
    expect(filesWith(world.state, value)).toEqual([]);
});

test("an overlay file that holds a credential of a known form stays out, also with a comment that asks for it", async () => {
  world.write(".gitignore", "local/\n");
  world.commit("Ignore");
  world.write("local/a.py", `# secretlint-disable\nkey = "${GITLAB}"\n`);
  world.write("local/b.py", "print(1)\n");
  const { id } = await readyRun(world, "", ["--overlay", "local/**"]);
  const manifest = JSON.parse(
    readFileSync(join(world.state, "runs", id, "snapshot-manifest.json"), "utf8"),
  ) as { copied: { path: string }[]; keptOut: { path: string; rule: string }[] };
  expect(manifest.copied.map((one) => one.path)).toEqual(["local/b.py"]);
  expect(manifest.keptOut).toContainEqual(
    expect.objectContaining({ path: "local/a.py", rule: "holds what looks like a GitLab token" }),
  );
});
