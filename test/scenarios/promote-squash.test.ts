import { describe, expect, test } from "vitest";
import { AGENT_COMMIT, headOf, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { makeWorld } from "../rig/world.ts";

const TWO_COMMITS = `git add -A; ${AGENT_COMMIT}; echo two > two.txt`;

describe("promote --squash lands one commit", () => {
  test("with the agent's message, what was squashed, and whose work it is", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id, "--squash"]);
    expect(world.git("rev-parse", "HEAD~1")).toBe(run.base);
    expect(world.git("rev-parse", "HEAD^{tree}")).toBe(
      world.git("rev-parse", `${run.head}^{tree}`),
    );
    expect(world.git("log", "-1", "--format=%B")).toBe(
      `Do T1\n\nBecause the plan says so.\n\nSquashed from 2 commits:\n\n- Part\n- Do T1\n\nGuardloop-Run: ${run.id}\nGuardloop-Task: T1`,
    );
    expect(world.git("log", "-1", "--format=%an, %cn")).toBe("guardloop agent, guardloop");
    expect((await show(world)).promotion).toMatchObject({ how: "squash", after: headOf(world) });
    await succeed(world, ["rollback", run.id]);
    expect(headOf(world)).toBe(run.base);
  });

  test("on top of what came meanwhile; one commit says nothing of squashing", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    world.write("mine.txt", "mine\n");
    const mine = world.commit("Mine");
    const dry = await succeed(world, ["promote", run.id, "--squash", "--dry-run"]);
    expect(dry.stdout).toMatch(/Everything as one commit on top of main .*, 2 files\./);
    expect(headOf(world)).toBe(mine);
    await succeed(world, ["promote", run.id, "--squash"]);
    expect(world.git("rev-parse", "HEAD~1")).toBe(mine);
    expect(world.git("diff", "--name-only", run.head, "HEAD")).toBe("mine.txt");
    const message = world.git("log", "-1", "--format=%B");
    expect(message).toMatch(/^Do T1\n/);
    expect(message).not.toContain("Squashed");
    expect(message.match(/Guardloop-Run/g)).toHaveLength(1);
  });

  test("and judges the message that lands, which the agent's own commits do not have", async () => {
    using world = makeWorld();
    const token = ["ghp", "aB3dE5fG7hJ9kL2mN4pQ6rS8tU0vWyZ1aB3d"].join("_");
    const run = await readyRun(
      world,
      `git add -A; ${AGENT_COMMIT}; echo "Use ${token}" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`,
    );
    const said = await refuse(world, ["promote", run.id, "--squash"], { code: "promote-refused" });
    expect(said.details.join("\n")).toMatch(/secret-added.*\n {2}commit .* \(a GitHub token\)/);
    expect(headOf(world)).toBe(run.base);
    await succeed(world, ["promote", run.id]);
  });

  test("twice the same: after a rollback it is the same commit again", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    await succeed(world, ["promote", run.id, "--squash"]);
    const first = headOf(world);
    await succeed(world, ["rollback", run.id]);
    await succeed(world, ["restore", run.id]);
    await succeed(world, ["promote", run.id, "--squash"]);
    expect(headOf(world)).toBe(first);
  });
});
