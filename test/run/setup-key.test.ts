import { expect, test } from "vitest";
import type { FlagValues } from "../../src/config/text-layer.ts";
import type { SetupSpec } from "../../src/core/run-spec.ts";
import { setupSpec } from "../../src/run/setup/setup-spec.ts";
import { loaded } from "../config/load-rig.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";

const FLAGS: FlagValues = {
  "setup.commands": ["npm ci", "echo one, two"],
  "setup.allow_hosts": ["registry.example.org"],
  "cache.directories": [".npm", ".cache", ".cache/pip"],
};

async function specOf(
  { git, head }: SampleRepository,
  flags: FlagValues = {},
  imageId = "sha256:1",
): Promise<SetupSpec> {
  const { settings } = loaded({ flags: { ...FLAGS, ...flags } });
  const made = await setupSpec(settings, { git, head: head(), imageId });
  if (!made.ok || made.value === undefined) throw new Error("no setup");
  return made.value;
}

test("a setup has its commands whole, and no cache inside of another one", async () => {
  const repository = sampleRepository();
  expect(await specOf(repository)).toMatchObject({
    commands: ["npm ci", "echo one, two"],
    allowHosts: ["registry.example.org"],
    caches: [".npm", ".cache"],
    limitMs: 30 * 60_000,
    key: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("without commands there is no setup, whatever else is set", async () => {
  const { git, head } = sampleRepository();
  const { settings } = loaded({ flags: { ...FLAGS, "setup.commands": [] } });
  const made = await setupSpec(settings, { git, head: head(), imageId: "sha256:1" });
  expect(made).toEqual({ ok: true, value: undefined });
});

test("the key is another one when anything is that decides what the commands make", async () => {
  const repository = sampleRepository();
  const keys = new Set([(await specOf(repository)).key]);
  const add = async (flags: FlagValues = {}, imageId?: string): Promise<void> => {
    const { size } = keys;
    keys.add((await specOf(repository, flags, imageId)).key);
    expect(keys.size).toBe(size + 1);
  };
  await add({}, "sha256:2");
  await add({ "setup.commands": ["npm ci"] });
  await add({ "setup.allow_hosts": [] });
  await add({ "setup.keep": ["node_modules"] });
  await add({ "setup.lockfiles": ["package.json"] });
  await add({ "cache.directories": [] });
  for (const content of ["{}", '{"a":1}']) {
    repository.write("sub/package-lock.json", content);
    repository.commit("Lock");
    await add();
  }
  repository.run(["mv", "sub/package-lock.json", "package-lock.json"]);
  repository.commit("Move");
  await add();
});

test("the key stays when nothing is, of the time allowed and of files that no glob names", async () => {
  const repository = sampleRepository();
  const { key } = await specOf(repository);
  repository.write("src/code.txt", "other code\n");
  repository.commit("Other");
  expect((await specOf(repository, { "setup.minutes": "5" })).key).toBe(key);
});
