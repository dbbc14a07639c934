import { describe, expect, test } from "vitest";
import { headOf, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, checkoutDigest, makeWorld } from "../rig/world.ts";

const PASS = ["--validate", "ok: test -f T1.txt"];

function goOn(world: World, path = "mine.txt", text = "mine\n"): string {
  world.write(path, text);
  return world.commit("Mine");
}

/** The containers that were started to validate something. */
function validations(world: World): number {
  return world
    .dockerCalls()
    .filter(({ argv }) => argv.some((arg) => /^--name=.*-validate$/.test(arg))).length;
}

describe("what would land on a branch that moved is validated", () => {
  test("with the commands of the checkout as it is now, and not landed when it fails", async () => {
    using world = makeWorld();
    const run = await readyRun(world, "", PASS);
    goOn(world, "guardloop.toml", '[validate]\ncommands = ["together: test ! -f T1.txt"]\n');
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.message).toContain("The validation of what would land failed");
    expect(said.details).toEqual(["together failed"]);
    expect(checkoutDigest(world)).toBe(before);
    expect((await show(world)).run.state).toBe("ready");
    // The run's own tree has passed all the same.
    world.git("reset", "-q", "--hard", run.base);
    await succeed(world, ["promote", run.id]);
  });

  test("and lands when it passes; the same tree is not validated twice", async () => {
    using world = makeWorld();
    const run = await readyRun(world, "", PASS);
    const mine = goOn(world);
    expect(validations(world)).toBe(1);
    const ended = await succeed(world, ["promote", run.id, "--rebase"]);
    expect(ended.stderr).toBe("Validating what would land: ok.\n");
    expect(world.git("rev-parse", "HEAD~1")).toBe(mine);
    expect(validations(world)).toBe(2);
    await succeed(world, ["rollback", run.id]);
    await succeed(world, ["restore", run.id]);
    await succeed(world, ["promote", run.id, "--squash"]);
    expect(validations(world)).toBe(2);
  });

  test("not where a reason is given, and not in a dry run", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT, ["--validate", "never: false"]);
    const { run } = await show(world);
    goOn(world);
    const dry = await succeed(world, ["promote", run.id, "--rebase", "--dry-run"]);
    expect(dry.stdout).toContain("has not passed a validation yet");
    const flags = ["--rebase", "--without-validation", "known to be flaky"];
    await succeed(world, ["promote", run.id, ...flags]);
    expect(validations(world)).toBe(1);
    expect((await show(world)).promotion).toMatchObject({ withoutValidation: "known to be flaky" });
  });

  test("again, when the branch moves once more meanwhile", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const commit = `git -C ${world.repo} -c user.name=A -c user.email=a@b.invalid commit -q -m Meanwhile`;
    goOn(
      world,
      "guardloop.toml",
      `[validate]\ncommands = ["meddle: echo x > ${world.repo}/x.txt; git -C ${world.repo} add x.txt; ${commit}"]\n`,
    );
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.message).toContain("moved again");
    expect(world.git("log", "-1", "--format=%s")).toBe("Meanwhile");
    expect(headOf(world)).not.toBe(run.head);
    expect(world.git("status", "--porcelain")).toBe("");
  });
});
