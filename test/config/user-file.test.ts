import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readUserFile } from "../../src/config/user-file.ts";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "guardloop-user-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test("no configuration directory, or none of our files in it, means no user file", async () => {
  expect(await readUserFile(directory)).toEqual({ ok: true, value: undefined });
  expect(await readUserFile(join(directory, "none"))).toEqual({ ok: true, value: undefined });
});

test("the file is read with the path that messages name", async () => {
  const path = join(directory, "config.toml");
  await writeFile(path, "[run]\n");
  expect(await readUserFile(directory)).toEqual({ ok: true, value: { path, text: "[run]\n" } });
});

test("a file that is there and cannot be read is not taken for a missing one", async () => {
  await mkdir(join(directory, "config.toml"));
  expect(await readUserFile(directory)).toMatchObject({
    ok: false,
    error: { code: "config-invalid", message: expect.stringContaining("config.toml") },
  });
});
