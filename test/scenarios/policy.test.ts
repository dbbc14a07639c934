import { mkdirSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";
import { readyRun, refuse, succeed } from "../rig/lifecycle.ts";

interface ShownFinding {
  readonly severity: string;
  readonly code: string;
  readonly paths: readonly string[];
  readonly why: string;
  readonly policy: string | null;
}

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world[Symbol.dispose]());

async function findingsOf(run = "@last"): Promise<readonly ShownFinding[]> {
  const shown = await succeed(world, ["review", run, "--json"]);
  return (JSON.parse(shown.stdout) as { findings: readonly ShownFinding[] }).findings;
}

async function finding(code: string): Promise<ShownFinding | undefined> {
  return (await findingsOf()).find((one) => one.code === code);
}

function configure(text: string): void {
  world.write("guardloop.toml", text);
  world.commit("Policy");
}

describe("a repository's policy", () => {
  test("protects further paths, whatever their case, and the old name of what is renamed", async () => {
    world.write("migrations/001.sql", "create\n");
    configure('[policy]\nprotected = ["MIGRATIONS"]\n');
    await readyRun(world, "mkdir -p lib; git mv migrations/001.sql lib/001.sql");
    expect(await finding("protected-policy")).toMatchObject({
      severity: "block",
      paths: ["migrations/001.sql"],
    });
    const said = await refuse(world, ["promote", "@last"], { code: "promote-refused" });
    expect(said.cure).toContain("--accept protected-policy");
    await succeed(world, ["promote", "@last", "--accept", "protected-policy:migrations/001.sql"]);
  });

  test("raises a severity; review says so, and promote obeys it", async () => {
    configure('[policy]\nraise = ["mode-changed: block"]\n');
    await readyRun(world, "echo x > tool; chmod +x tool");
    expect(await finding("mode-changed")).toMatchObject({ severity: "block", policy: "raised" });
    const shown = await succeed(world, ["review", "@last", "--findings"]);
    expect(shown.stdout).toMatch(/block mode-changed .*\(raised by policy\)/);
    await refuse(world, ["promote", "@last"], { code: "promote-refused" });
    await succeed(world, ["promote", "@last", "--accept", "mode-changed"]);
  });

  test("lowers a severity only when it is trusted", async () => {
    configure('[policy]\nlower = ["protected-ci: info"]\n');
    const agent = "mkdir -p .github; echo x > .github/x.yml";
    const untrusted = await world.run(`${GOOD_AGENT}${agent}`);
    expect(untrusted.stderr).toContain("policy.lower");
    expect(untrusted.stderr).toContain("guardloop trust");
    expect(await finding("protected-ci")).toMatchObject({ severity: "block", policy: null });
    await succeed(world, ["discard", "@last"]);
    await succeed(world, ["trust"]);
    await readyRun(world, agent);
    expect(await finding("protected-ci")).toMatchObject({ severity: "info", policy: "lowered" });
    await succeed(world, ["promote", "@last"]);
  });

  test("is the one of the run's start: a branch cannot change how it is judged", async () => {
    configure('[policy]\nprotected = ["src/**"]\n');
    await succeed(world, ["trust"]);
    await readyRun(
      world,
      `printf '[policy]\\nlower = ["protected-ci: info"]\\n' > guardloop.toml; echo x > src/new.txt
       mkdir -p .github; echo x > .github/x.yml`,
    );
    const codes = (await findingsOf()).filter((one) => one.severity === "block");
    expect(codes.map((one) => one.code)).toEqual([
      "control-file",
      "protected-ci",
      "protected-policy",
    ]);
    await succeed(world, ["promote", "@last", ...codes.flatMap((one) => ["--accept", one.code])]);
    // Landed, but not trusted: what the file lowers now does not count yet.
    const next = await world.run(`${GOOD_AGENT}\necho y > .github/x.yml`);
    expect(next.stderr).toContain("policy.lower");
    expect(await finding("protected-ci")).toMatchObject({ severity: "block" });
  });

  test("with an unknown code ends the command before anything is made, with line and column", async () => {
    configure('[policy]\nraise = ["binary: block",\n  "binnary: block"]\n');
    const said = await refuse(world, ["run", "--agent", "command", "--", "true"], {
      status: 2,
      code: "config-invalid",
    });
    expect(said.message).toContain("guardloop.toml:3:3 policy.raise");
  });
});

describe("what is only known when somebody looks", () => {
  test("a base that moved is said, with what both sides changed", async () => {
    await readyRun(world, "echo agent >> src/app.txt");
    expect(await finding("stale-base")).toBeUndefined();
    world.write("src/app.txt", "user\n");
    world.write("other.txt", "user\n");
    world.commit("Mine");
    expect(await finding("stale-base")).toEqual({
      severity: "warn",
      code: "stale-base",
      paths: ["src/app.txt"],
      morePaths: 0,
      why: "main has moved by 1 commit since the run began; these files were changed on both sides.",
      policy: null,
    });
  });

  test("a stack that waits for its parent is not stale, and is once the checkout has more", async () => {
    await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
    expect(await finding("stale-base")).toBeUndefined();
    world.write("other.txt", "user\n");
    world.commit("Mine");
    expect((await finding("stale-base"))?.why).toContain("main ");
  });

  test("a validation that failed, or is missing, blocks and cannot be accepted by its code", async () => {
    await world.run(GOOD_AGENT, ["--validate", "lint: false"]);
    const failed = await finding("validation-failed");
    expect(failed).toMatchObject({ severity: "block" });
    expect(failed?.why).toContain("lint failed");
    const text = (await succeed(world, ["review", "@last"])).stdout;
    expect(text).toMatch(/block validation-failed/);
    expect(text).toContain("--without-validation REASON");
    expect(text).not.toContain("--accept validation-failed");
    const said = await refuse(world, ["promote", "@last", "--accept", "validation-failed"], {
      code: "promote-refused",
    });
    expect(said.message).toContain("validation-failed cannot be accepted");
    await succeed(world, ["promote", "@last", "--without-validation", "flaky"]);
    expect(await finding("validation-failed")).toBeUndefined();
  });

  test("a policy that raises what is computed late counts too", async () => {
    configure('[policy]\nraise = ["stale-base: block"]\n');
    await readyRun(world);
    world.write("other.txt", "user\n");
    world.commit("Mine");
    expect(await finding("stale-base")).toMatchObject({ severity: "block", policy: "raised" });
  });
});

describe("what is accepted must be there", () => {
  test("a misspelt code or path is refused with the list of those there are, and nothing lands", async () => {
    await readyRun(world, "mkdir -p .github; echo x > .github/x.yml");
    const head = world.git("rev-parse", "HEAD");
    for (const accept of ["protected-cl", "protected-ci:.github/y.yml", "symlink"]) {
      const said = await refuse(world, ["promote", "@last", "--accept", accept], {
        code: "promote-refused",
      });
      expect(said.message).toContain(accept);
      expect(said.details).toEqual(["protected-ci", "protected-ci:.github/x.yml"]);
    }
    expect(world.git("rev-parse", "HEAD")).toBe(head);
    await succeed(world, ["promote", "@last", "--accept", "protected-ci:.github/x.yml"]);
  });
});

describe("where Git finds hooks in the tree", () => {
  test("a directory that core.hooksPath names is protected", async () => {
    world.write("tools/hooks/pre-push", "#!/bin/sh\n");
    world.commit("Hooks");
    world.git("config", "core.hooksPath", "tools/hooks");
    await readyRun(world, "echo evil >> tools/hooks/pre-push; echo x > tools/hooks/post-merge");
    expect(await finding("protected-git")).toMatchObject({
      severity: "block",
      paths: ["tools/hooks/post-merge", "tools/hooks/pre-push"],
    });
  });

  test("a hook that links into the tree is protected too", async () => {
    world.write("dev/check", "#!/bin/sh\n");
    world.commit("Check");
    mkdirSync(`${world.repo}/.git/hooks`, { recursive: true });
    symlinkSync("../../dev/check", `${world.repo}/.git/hooks/pre-push`);
    await readyRun(world, "echo evil >> dev/check");
    expect(await finding("protected-git")).toMatchObject({ paths: ["dev/check"] });
  });

  test("without either there is no such finding", async () => {
    await readyRun(world, "mkdir -p tools/hooks; echo x > tools/hooks/post-merge");
    expect(await finding("protected-git")).toBeUndefined();
  });
});

test("a rename shows its old and its new name", async () => {
  world.write("AGENTS.md", "Be good.\n");
  world.commit("Rules");
  await readyRun(world, "git mv AGENTS.md notes.md; mkdir .claude; git mv src/app.txt .claude/x");
  expect((await finding("protected-agents"))?.paths).toEqual([".claude/x", "AGENTS.md"]);
});
