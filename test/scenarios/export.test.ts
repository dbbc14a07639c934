import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { type TarEntry, readTar, writeTar } from "../../src/files/tar.ts";
import { sha256 } from "../../src/run/export/provenance.ts";
import { redact, redactionsOf } from "../../src/run/export/redact.ts";
import { readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { type World, GOOD_AGENT, makeWorld } from "../rig/world.ts";

const KEY = "tok-4711-abcdefgh";
const GITHUB = `ghp_${"a1B2".repeat(9)}`;

function archiveOf(world: World): string {
  return join(world.root, "run.tar.gz");
}

async function exported(world: World): Promise<string> {
  const path = archiveOf(world);
  await succeed(world, ["export", "@last", "--output", path]);
  return path;
}

/** Packs an archive again with its entries changed. */
function rewritten(
  path: string,
  change: (entries: readonly TarEntry[]) => readonly TarEntry[],
): string {
  const entries = readTar(gunzipSync(readFileSync(path))) ?? [];
  const target = `${path}.changed`;
  writeFileSync(target, gzipSync(writeTar(change(entries))));
  return target;
}

function edited(name: string, edit: (text: string) => string) {
  return (entries: readonly TarEntry[]): readonly TarEntry[] =>
    entries.map((one) =>
      one.name === name ? { name, bytes: Buffer.from(edit(one.bytes.toString())) } : one,
    );
}

const decidedWorld: { world: World; path: string } = { world: undefined as never, path: "" };

/** The archive of a run that was promoted with a finding accepted and then rolled back; made once. */
async function decided() {
  if (decidedWorld.path === "") {
    const world = makeWorld();
    decidedWorld.world = world;
    const { id } = await readyRun(world, "ln -s /etc/passwd link");
    await succeed(world, [
      "promote",
      id,
      "--accept",
      "symlink-escaping",
      "--why",
      "reviewed by hand",
    ]);
    await succeed(world, ["rollback", id, "--why", "a mistake"]);
    decidedWorld.path = await exported(world);
  }
  return decidedWorld;
}

afterAll(() => decidedWorld.path !== "" && decidedWorld.world[Symbol.dispose]());

describe("export", () => {
  test("writes an archive that any tar reads, for its owner alone, and verify agrees", async () => {
    using world = makeWorld();
    const { id, branch } = await readyRun(world, "", ["--validate", "ok: true"]);
    const path = await exported(world);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const names = execFileSync("tar", ["tzf", path], { encoding: "utf8" }).trim().split("\n");
    expect(names[0]).toBe("provenance.json");
    for (const name of ["spec.json", "events.jsonl", "container.json", "snapshot-manifest.json"])
      expect(names).toContain(name);
    for (const name of ["import.json", "review.json", "validation.log", "agent.log"])
      expect(names).toContain(name);
    expect(names.filter((name) => name.startsWith("artifacts/patches/"))).toHaveLength(1);
    const { stdout } = await succeed(world, ["verify", path]);
    expect(stdout).toContain(`Archive of run ${id}`);
    expect(stdout).toContain(`and so does ${branch}`);
    expect(stdout.match(/^ok /gm)).toHaveLength(6);
    expect(stdout).toMatch(/^skipped +decision +The run was not promoted\.$/m);
    const elsewhere = await succeed(world, ["verify", path], { cwd: world.root });
    expect(elsewhere.stdout).toMatch(/^skipped +repository/m);
  });

  test("leaves out credentials: by value, and by form", async () => {
    using world = makeWorld();
    const ended = await world.run(
      `echo "key $TOKEN"; echo "{\\"t\\":\\"${GITHUB}\\"}"; ${GOOD_AGENT}`,
      ["--pass-env", "TOKEN"],
      { env: { TOKEN: KEY } },
    );
    expect(ended.code).toBe(0);
    const path = archiveOf(world);
    const done = await succeed(world, ["export", "@last", "--output", path], {
      env: { TOKEN: KEY },
    });
    expect(done.stdout).toContain("redacted: agent.log");
    const whole = gunzipSync(readFileSync(path)).toString("latin1");
    expect(whole).not.toContain(KEY);
    expect(whole).not.toContain(GITHUB);
    expect(whole).toContain("key [redacted: TOKEN of the environment]");
    await succeed(world, ["verify", path]);
  });

  test("leaves out what the .env files of the repository hold, from wherever it is called", async () => {
    using world = makeWorld();
    world.git("config", "core.excludesFile", "/dev/null");
    world.write(".gitignore", ".env*\n");
    world.commit("Ignore");
    world.write(".env.local", `SERVICE_KEY=${KEY}\n`);
    const ended = await world.run(`echo "found ${KEY}"; ${GOOD_AGENT}`);
    expect(ended.code).toBe(0);
    const path = archiveOf(world);
    await succeed(world, ["export", "@last", "--output", path], { cwd: world.root });
    const whole = gunzipSync(readFileSync(path)).toString("latin1");
    expect(whole).not.toContain(KEY);
    expect(whole).toContain("found [redacted: SERVICE_KEY of .env.local]");
  });

  test("leaves out the credential of the run's gateway, as far as its reference leads anywhere", async () => {
    using world = makeWorld();
    const ended = await world.run(`echo "found ${KEY}"; ${GOOD_AGENT}`);
    expect(ended.code).toBe(0);
    const { run } = await show(world);
    // A record as the gateway leaves it, without one.
    const specFile = join(world.state, "runs", run.id, "spec.json");
    const spec = JSON.parse(readFileSync(specFile, "utf8")) as Record<string, unknown>;
    writeFileSync(specFile, JSON.stringify({ ...spec, gateway: { credential: "env:MODEL_KEY" } }));
    const path = archiveOf(world);
    const held = { env: { MODEL_KEY: KEY } };
    await succeed(world, ["export", "@last", "--output", path], held);
    const whole = gunzipSync(readFileSync(path)).toString("latin1");
    expect(whole).not.toContain(KEY);
    expect(whole).toContain("found [redacted: MODEL_KEY of the environment]");
  });

  test("says so when the repository is gone and its .env files could not be read", async () => {
    using world = makeWorld();
    const { id } = await readyRun(world);
    renameSync(world.repo, `${world.repo}-moved`);
    const ended = await succeed(world, ["export", id, "--output", archiveOf(world)], {
      cwd: world.root,
    });
    expect(ended.stderr).toContain("no .env file of it was read");
  });

  test("tells how a run was promoted and taken back, by whom and why, and verify agrees", async () => {
    const { world, path } = await decided();
    const [first] = readTar(gunzipSync(readFileSync(path))) ?? [];
    const provenance = JSON.parse(first?.bytes.toString() ?? "") as Record<string, unknown>;
    const { imported } = provenance as { imported: { head: string; commits: unknown[] } };
    expect(provenance["decision"]).toMatchObject({
      state: "rolled-back",
      promotion: {
        how: "fast-forward",
        after: imported.head,
        why: "reviewed by hand",
        accepted: ["symlink-escaping"],
        withoutValidation: null,
        commits: imported.commits,
      },
      rollback: { how: "reset", before: imported.head, why: "a mistake", commits: [] },
      discard: null,
    });
    expect(provenance).toMatchObject({ planHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const { stdout } = await succeed(world, ["verify", path]);
    expect(stdout).toMatch(
      /^ok +decision +Landed by fast-forward as .*, taken back by reset: journal/m,
    );
  });

  test("does not overwrite a file, and does not export a run that goes on", async () => {
    using world = makeWorld();
    await readyRun(world);
    const path = await exported(world);
    const error = await refuse(world, ["export", "@last", "--output", path], {
      status: 2,
      code: "usage",
    });
    expect(error.message).toContain("EEXIST");
  });

  test("of a run that failed is whole and verifies too", async () => {
    using world = makeWorld();
    await world.run("echo half > half.txt");
    const { stdout } = await succeed(world, ["verify", await exported(world)]);
    expect(stdout).toMatch(/^skipped +import +Nothing was imported/m);
  });
});

describe("verify notices", () => {
  test.each<readonly [string, ReturnType<typeof edited>, RegExp]>([
    ["a changed log", edited("agent.log", (text) => `${text}more`), /files: agent\.log has not/],
    [
      "a file that is gone",
      (all) => all.filter((one) => one.name !== "review.json"),
      /files: review\.json is missing/,
    ],
    [
      "a file that was added",
      (all) => [...all, { name: "extra", bytes: Buffer.from("x") }],
      /files: extra is not listed/,
    ],
    [
      "another spec hash",
      edited("provenance.json", (text) => text.replace(/"specHash": ".{4}/, '"specHash": "0000')),
      /spec: spec\.json has not the hash/,
    ],
    [
      "another patch hash",
      edited("provenance.json", (text) =>
        text.replace(/("patches": \[\s*\{[^}]*"sha256": ").{4}/, "$10000"),
      ),
      /patches: .* is not the patch of the run/,
    ],
    [
      "another imported tree",
      edited("provenance.json", (text) =>
        text.replace(/("imported": \{[^[]*"tree": ").{4}/, "$10000"),
      ),
      /import: import\.json speaks of another/,
    ],
    [
      "other findings",
      edited("provenance.json", (text) =>
        text.replace(/"findingsHash": ".{4}/, '"findingsHash": "0000'),
      ),
      /findings: review\.json has other/,
    ],
  ])("%s", async (_, change, message) => {
    using world = makeWorld();
    await readyRun(world);
    const changed = rewritten(await exported(world), change);
    const error = await refuse(world, ["verify", changed], { status: 4, code: "archive-mismatch" });
    expect(error.message).toMatch(message);
  });

  test.each<[string, (text: string) => string, RegExp]>([
    [
      "another way",
      (text) => text.replace('"how": "fast-forward"', '"how": "squash"'),
      /another promotion/,
    ],
    [
      "somebody else",
      (text) => text.replace(/("how": "fast-forward",[^}]*"by": ")/, "$1not-"),
      /another promotion/,
    ],
    [
      "another commit",
      (text) => text.replace(/("after": ")[0-9a-f]{4}/, "$10000"),
      /decision: The promotion is called a fast-forward|decision: The commits/,
    ],
    [
      "what was accepted left out",
      (text) => text.replace(/"accepted": \[[^\]]*\]/, '"accepted": []'),
      /another promotion/,
    ],
    [
      "no promotion",
      (text) => text.replace(/"promotion": \{[^]*?\n {4}\},/, '"promotion": null,'),
      /speaks of a promotion/,
    ],
    [
      "another rollback",
      (text) => text.replace('"why": "a mistake"', '"why": "none"'),
      /another rollback/,
    ],
    [
      "a reset to elsewhere",
      (text) => text.replace(/("rollback": \{[^}]*"after": ")[0-9a-f]{4}/, "$10000"),
      /called a reset and leads/,
    ],
  ])("a decision with %s", async (_, edit, message) => {
    const { path, world } = await decided();
    const changed = rewritten(path, edited("provenance.json", edit));
    const error = await refuse(world, ["verify", changed], { status: 4, code: "archive-mismatch" });
    expect(error.message).toMatch(message);
  });

  test("JSON that is nested absurdly deep: in one sentence", async () => {
    const { path, world } = await decided();
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    for (const name of ["spec.json", "review.json", "artifacts/manifest.json"]) {
      const changed = rewritten(path, (entries) => {
        const inPlace = edited(name, () => deep)(entries);
        const hash = sha256(deep);
        const known = new RegExp(`("name": "${name}",\\s*"sha256": ")[0-9a-f]{64}`);
        return edited("provenance.json", (text) => text.replace(known, `$1${hash}`))(inPlace);
      });
      const error = await refuse(world, ["verify", changed], {
        status: 4,
        code: "archive-mismatch",
      });
      expect(error.message).toContain(`files: ${name} is nested deeper than anything`);
    }
    const provenance = rewritten(
      path,
      edited("provenance.json", () => deep),
    );
    await refuse(world, ["verify", provenance], { status: 2, code: "archive-unreadable" });
  });

  test("a branch that has moved on", async () => {
    using world = makeWorld();
    const { branch } = await readyRun(world);
    const path = await exported(world);
    world.git("branch", "-f", branch, "main");
    const error = await refuse(world, ["verify", path], { status: 4, code: "archive-mismatch" });
    expect(error.message).toContain(`repository: ${branch} is at`);
  });

  test.each([
    ["no archive", Buffer.from("nothing")],
    [
      "a cut one",
      gzipSync(writeTar([{ name: "provenance.json", bytes: Buffer.from("{}") }]).subarray(0, 700)),
    ],
    ["one without a provenance", gzipSync(writeTar([{ name: "x", bytes: Buffer.from("y") }]))],
    [
      "a provenance of another shape",
      gzipSync(
        writeTar([{ name: "provenance.json", bytes: Buffer.from('{"version":1,"files":3}') }]),
      ),
    ],
  ])("%s", async (_, bytes) => {
    using world = makeWorld();
    writeFileSync(archiveOf(world), bytes);
    const error = await refuse(world, ["verify", archiveOf(world)], {
      status: 2,
      code: "archive-unreadable",
    });
    expect(error.message).toContain("is not an archive of a run");
  });
});

describe("redacting", () => {
  async function redacted(bytes: Buffer, value: string): Promise<Buffer> {
    const redactions = redactionsOf([{ name: "TOKEN", value }]);
    return redact({ path: "agent.log", bytes }, redactions);
  }
  const clean = async (text: string, value = KEY): Promise<string> =>
    (await redacted(Buffer.from(text), value)).toString();

  test("keeps every byte that is no secret", async () => {
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
    expect(await redacted(bytes, KEY)).toEqual(bytes);
  });

  test("finds a value that is escaped in JSON, once or twice, or holds signs of patterns", async () => {
    const value = 'a"b\\c$&(d)é';
    const json = JSON.stringify({ key: value });
    expect(await clean(json, value)).toBe('{"key":"[redacted: TOKEN]"}');
    expect(await clean(JSON.stringify(json), value)).not.toContain("(d)");
    expect(await clean(`${value} ${value}`, value)).toBe("[redacted: TOKEN] [redacted: TOKEN]");
  });

  test("finds a value in base64 and in an address", async () => {
    const base64 = Buffer.from(`user:${KEY}`).toString("base64");
    expect(await clean(`Authorization: Basic ${base64}`)).toContain("[redacted: TOKEN, in base64]");
    const value = "tok/4711+abcdefgh";
    expect(await clean(`https://u:${encodeURIComponent(value)}@h/`, value)).toContain(
      "[redacted: TOKEN, percent-encoded]",
    );
  });

  test("takes out the longer of two values of which one is part of the other", async () => {
    const redactions = redactionsOf([
      { name: "SHORT", value: "tok-4711" },
      { name: "LONG", value: "tok-4711-and-the-rest" },
    ]);
    const bytes = Buffer.from("a tok-4711-and-the-rest b");
    const cleaned = await redact({ path: "agent.log", bytes }, redactions);
    expect(cleaned.toString()).toBe("a [redacted: LONG] b");
  });

  test("takes a private key out as a whole, and leaves JSON that it stands in readable", async () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${"QUJD".repeat(40)}\n-----END RSA PRIVATE KEY-----`;
    expect(await clean(`a\n${key}\nb`)).toBe("a\n[redacted: a private key]\nb");
    expect(JSON.parse(await clean(JSON.stringify({ key })))).toEqual({
      key: "[redacted: a private key]",
    });
    expect(await clean(`a\n${key.slice(0, 90)}`)).toBe("a\n[redacted: a private key]");
  });

  test.each([
    [`export T='${GITHUB}' # mine`, "export T='[redacted: a GitHub token]' # mine"],
    [`T=${GITHUB}`, "T=[redacted: a GitHub token]"],
    [JSON.stringify({ t: `a\n${GITHUB}\n` }), String.raw`{"t":"a\n[redacted: a GitHub token]\n"}`],
    [
      `{"refresh_token": "${"aB3".repeat(9)}", "x": 1}`,
      '{"refresh_token": "[redacted: a refresh token]", "x": 1}',
    ],
    [
      JSON.stringify(`{"refresh_token":"${"aB3".repeat(9)}"}`),
      String.raw`"{\"refresh_token\":\"[redacted: a refresh token]\"}"`,
    ],
    ["mongodb://joe:tr0ub4dor@db.internal/x y", "mongodb:[redacted: a database password] y"],
  ])("takes out the word alone where a word is the secret: %s", async (text, expected) => {
    expect(await clean(text)).toBe(expected);
  });

  test("finds a form wherever it stands in a long text", async () => {
    const filler = "a line of no interest\n".repeat(120_000);
    const text = `${filler}${GITHUB}\n${filler}`;
    expect(await clean(text)).toBe(`${filler}[redacted: a GitHub token]\n${filler}`);
  });

  test("leaves values alone that are too short to be told from words", async () => {
    expect(await clean("true story", "true")).toBe("true story");
  });
});

describe("an archive", () => {
  test("keeps names longer than a hundred bytes", () => {
    const entries = ["a".repeat(99), "b".repeat(101), `ä/${"c".repeat(200)}`].map((name) => ({
      name,
      bytes: Buffer.from(name),
    }));
    expect(readTar(writeTar(entries))).toEqual(entries);
  });
});
