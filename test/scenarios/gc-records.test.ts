import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openHistory } from "../../src/history/sqlite.ts";
import { AT_ONCE, gc, keptRun, makeLate, recordOf } from "../rig/house.ts";
import { ending, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld, runsOf } from "../rig/world.ts";

describe("a record goes", () => {
  test("when its run landed, was discarded or left nothing; it is still listed, and every command says so", async () => {
    using world = makeWorld();
    const discarded = await readyRun(world);
    await succeed(world, ["discard", discarded.id]);
    const landed = await readyRun(world);
    await succeed(world, ["promote", landed.id]);
    await world.run("true");
    const [empty] = await runsOf(world);
    expect(empty?.state).toBe("failed");
    await succeed(world, ["branches", "--prune", "--branch-days", "0"]);
    const before = await runsOf(world);
    const done = await gc(world, "--yes", ...AT_ONCE);
    const records = done.items.filter(({ kind }) => kind === "record");
    expect(new Map(records.map((one) => [one.run, one.why]))).toEqual(
      new Map([
        [landed.id, "its work landed in main"],
        [discarded.id, "it was discarded"],
        [empty?.id, "it failed and left no work"],
      ]),
    );
    expect(records.every(({ sizeBytes }) => (sizeBytes ?? 0) > 4096)).toBe(true);
    expect(readdirSync(join(world.state, "runs"))).toEqual([]);
    expect(readdirSync(join(world.state, "trash"))).toEqual([]);
    expect(await runsOf(world)).toEqual(before);
    const page = (await succeed(world, ["show", landed.id])).stdout;
    expect(page).toMatch(
      /^Record +Its files \(.* KiB\) were removed on 20\d\d-\d\d-\d\d by .*, since the run had landed long ago/m,
    );
    for (const verb of ["logs", "export", "review", "validate"]) {
      const said = await refuse(world, [verb, landed.id], { status: 2, code: "record-removed" });
      expect(said.message).toMatch(/^The record of run .* was removed on /);
    }
    const again = await refuse(world, ["restore", discarded.id], {
      status: 2,
      code: "record-removed",
    });
    expect(again.cure).toContain(`git branch NAME ${discarded.head}`);
    await succeed(world, ["rollback", landed.id]);
    expect((await gc(world, ...AT_ONCE)).items.filter(({ kind }) => kind === "record")).toEqual([]);
  });

  test("not while a branch leads to its work, an open run builds on it, or what it landed was taken away by hand", async () => {
    using world = makeWorld();
    expect(ending(await world.run(GOOD_AGENT, ["--max-tasks", "2"]))).toBe("exit 0");
    const [child = "", parent = ""] = (await runsOf(world)).map(({ id }) => id);
    const { branch, head } = (await show(world, parent)).run;
    await succeed(world, ["promote", parent]);
    const kept = async () =>
      (await gc(world, "--yes", ...AT_ONCE)).kept.find(({ run }) => run === parent)?.why;
    expect(await kept()).toBe(`run ${child} builds on it`);
    await succeed(world, ["discard", child]);
    world.git("branch", "-f", String(branch), `${head}~1`);
    expect(await kept()).toBe(`refs/heads/${branch} still leads to its work`);
    world.git("branch", "-D", String(branch));
    world.git("reset", "-q", "--hard", `${head}~1`);
    expect(await kept()).toBe("what its run landed is not in main any more");
  });

  test("also when the removal was interrupted: after the event, and in the trash", async () => {
    using world = makeWorld();
    await world.run("true");
    const [run] = await runsOf(world);
    const id = run?.id ?? "";
    const history = openHistory(world.state, () => new Date());
    if (!history.ok) throw new Error("no history");
    const event = { because: "empty", sizeBytes: 1, by: "ada" } as const;
    history.value.append(id, { type: "record-removed", ...event });
    history.value[Symbol.dispose]();
    const trash = join(world.state, "trash");
    mkdirSync(trash);
    renameSync(recordOf(world, id), join(trash, "0123"));
    mkdirSync(recordOf(world, id));
    const said = (await succeed(world, ["gc", "--yes"])).stdout;
    expect(said).toContain("a removal was interrupted");
    expect(said).toContain("its removal was interrupted");
    expect(readdirSync(trash)).toEqual([]);
    expect(readdirSync(join(world.state, "runs"))).toEqual([]);
  });
});

describe("a snapshot whose work could not be exported", () => {
  test("stays until its days are over, and goes then without a link leading outside", async () => {
    using world = makeWorld();
    const outside = join(world.root, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "precious"), "mine");
    const script = `ln -s ${outside} way-out; mkdir d; ln -s ../../../../../outside d/relative; echo x > half.txt`;
    const run = await keptRun(world, script, ["--snapshot-days", "30"]);
    expect(run.kept).not.toBeNull();
    const days = (Date.parse(run.kept?.until ?? "") - Date.now()) / (24 * 60 * 60_000);
    expect(Math.round(days)).toBe(30);
    const early = await gc(world, "--yes", "--all", ...AT_ONCE);
    expect(early.kept.find(({ kind }) => kind === "snapshot")?.why).toContain(
      "work that could not be exported, kept until",
    );
    expect(existsSync(join(run.kept?.path ?? "", "half.txt"))).toBe(true);
    const late = makeLate(world, run);
    expect(ending(await late)).toBe("exit 0");
    expect(existsSync(run.kept?.path ?? "")).toBe(false);
    expect(readFileSync(join(outside, "precious"), "utf8")).toBe("mine");
    const shown = JSON.parse((await succeed(world, ["show", run.id, "--json"])).stdout);
    expect(shown.keptSnapshot).toBeNull();
  });

  test("is kept for ever with `never`", async () => {
    using world = makeWorld();
    const run = await keptRun(world, "echo x > half.txt", ["--snapshot-days", "never"]);
    expect(run.kept?.until).toBe("9999-12-31T23:59:59.999Z");
  });
});
