import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeQuarantine } from "../../src/git/quarantine.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { sampleRepository } from "../lease/sample-repository.ts";

/** Names of hooks as a configuration may have them: any character, and more than one dot. */
const NAMES = ["mark", "team.Guard", "lint staged", "a=b", "ä"];
const EVENTS = ["reference-transaction", "post-index-change", "post-checkout", "pre-commit"];

describe("hooks that the user's configuration defines", () => {
  test("are switched off by event and by name, for every command in the user's repository", async () => {
    const repository = sampleRepository();
    for (const name of NAMES) {
      repository.configureUser(`hook.${name}.event`, "post-checkout");
      repository.run(["config", `hook.${name}.command`, "true"]);
    }
    for (const name of [...NAMES, ...EVENTS]) {
      const asked = await repository.git.exec(["config", "--get-all", `hook.${name}.enabled`]);
      expect([name, asked.stdout.toString("utf8")]).toEqual([name, "false\n"]);
    }
  });

  test("do not run, while a user's own Git runs them where it knows them (2.54 and newer)", async () => {
    const repository = sampleRepository();
    const marker = join(repository.home, "marker");
    for (const [index, event] of EVENTS.entries()) {
      repository.run(["config", `hook.mark${index}.event`, event]);
      repository.run(["config", `hook.mark${index}.command`, `touch '${marker}' #`]);
    }
    writeFileSync(join(repository.topLevel, "new.txt"), "x\n");
    for (const args of [
      ["update-ref", "refs/heads/other", "HEAD"],
      ["add", "new.txt"],
      ["commit", "-q", "-m", "x"],
      ["checkout", "-q", "other"],
    ])
      expect([args, (await repository.git.exec(args)).code]).toEqual([args, 0]);
    expect(existsSync(marker)).toBe(false);
    const version = /(\d+)\.(\d+)/.exec(repository.run(["version"])) ?? [];
    const knows = Number(version[1]) * 100 + Number(version[2]) >= 254;
    repository.run(["update-ref", "refs/heads/third", "HEAD"]);
    expect(existsSync(marker)).toBe(knows);
  });
});

test("a quarantine sees no configuration but its own, and has every event switched off", async () => {
  const repository = sampleRepository();
  repository.configureUser("hook.mark.command", "true");
  const made = await makeQuarantine({
    program: findProgram("git", repository.env.path) ?? "git",
    env: repository.env,
    dir: join(repository.home, "quarantine.git"),
    objectsDir: join(repository.commonDir, "objects"),
  });
  const get = async (key: string): Promise<string> =>
    (await made.git.exec(["config", "--get", key])).stdout.toString("utf8").trim();
  expect(await get("hook.mark.command")).toBe("");
  expect(await get("core.hooksPath")).toBe("/dev/null");
  for (const event of EVENTS) expect(await get(`hook.${event}.enabled`)).toBe("false");
});
