import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isTrusted, trust } from "../../src/config/trust.ts";

let directory: string;
let stateDir: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "guardloop-trust-"));
  stateDir = join(directory, "state", "guardloop");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("nothing is trusted at first, and asking creates nothing", async () => {
  expect(await isTrusted(stateDir, "repo", "text")).toEqual({ ok: true, value: "no" });
  await expect(stat(stateDir)).rejects.toThrow("ENOENT");
});

test("trust holds for exactly one text of exactly one repository", async () => {
  expect(await trust(stateDir, "repo", "mode = 1\n")).toEqual({ ok: true, value: undefined });
  expect(await isTrusted(stateDir, "repo", "mode = 1\n")).toEqual({ ok: true, value: "yes" });
  expect(await isTrusted(stateDir, "repo", "mode = 1")).toEqual({ ok: true, value: "no" });
  expect(await isTrusted(stateDir, "other", "mode = 1\n")).toEqual({ ok: true, value: "no" });
});

test("bytes and the text they spell are the same to it", async () => {
  await trust(stateDir, "repo", Buffer.from("grün\n"));
  expect(await isTrusted(stateDir, "repo", "grün\n")).toEqual({ ok: true, value: "yes" });
});

test("a new text replaces the old one, and other repositories keep theirs", async () => {
  await trust(stateDir, "other", "their text");
  await trust(stateDir, "repo", "old");
  await trust(stateDir, "repo", "new");
  expect(await isTrusted(stateDir, "repo", "old")).toEqual({ ok: true, value: "no" });
  expect(await isTrusted(stateDir, "repo", "new")).toEqual({ ok: true, value: "yes" });
  expect(await isTrusted(stateDir, "other", "their text")).toEqual({ ok: true, value: "yes" });
});

test("names of object properties are not repositories", async () => {
  await trust(stateDir, "repo", "x");
  expect(await isTrusted(stateDir, "constructor", "x")).toEqual({ ok: true, value: "no" });
});

test("the record is readable by its owner alone", async () => {
  await trust(stateDir, "repo", "text");
  expect((await stat(join(stateDir, "trust.json"))).mode & 0o777).toBe(0o600);
  expect((await stat(stateDir)).mode & 0o777).toBe(0o700);
});

test.each(["", "{", "[]", '{"version":2,"trusted":{}}', '{"version":1,"trusted":{"repo":true}}'])(
  "a damaged record is refused, and trusting does not write over it: %j",
  async (content) => {
    await trust(stateDir, "repo", "text");
    const path = join(stateDir, "trust.json");
    await writeFile(path, content);
    for (const result of [
      await isTrusted(stateDir, "repo", "text"),
      await trust(stateDir, "repo", "text"),
    ]) {
      expect(result).toMatchObject({ ok: false, error: { code: "state-unusable" } });
      expect(result.ok ? "" : result.error.message).toContain(path);
    }
    expect(await readFile(path, "utf8")).toBe(content);
  },
);

test("a state directory that is a link to somewhere else is refused", async () => {
  const link = join(directory, "link");
  await symlink(directory, link);
  expect(await trust(link, "repo", "text")).toMatchObject({
    ok: false,
    error: { code: "state-unusable" },
  });
});

test("a record that is there and cannot be read is not taken for a missing one", async () => {
  await mkdir(join(stateDir, "trust.json"), { recursive: true });
  expect(await isTrusted(stateDir, "repo", "text")).toMatchObject({
    ok: false,
    error: { code: "state-unusable", message: expect.stringContaining("cannot be read (EISDIR)") },
  });
});
