import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_COMMIT, headOf, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { whenGitRuns } from "../rig/scripted-git.ts";
import { GOOD_AGENT, type World, checkoutDigest, makeWorld, runsOf } from "../rig/world.ts";

const TWO_COMMITS = `git add -A; ${AGENT_COMMIT}; echo two > two.txt; chmod +x two.txt; ln -s two.txt link`;

/** A commit of the user's own, made after the run. */
function goOn(world: World, path = "mine.txt", text = "mine\n"): string {
  world.write(path, text);
  return world.commit("Mine");
}

interface Promoted {
  readonly how: string;
  readonly before: string;
  readonly after: string;
  readonly tree: string;
  readonly commits: number;
  readonly dropped: readonly string[];
  readonly comparison: { readonly verdict: string; readonly lines: readonly string[] } | null;
}

async function promoted(world: World, args: readonly string[]): Promise<Promoted> {
  const ended = await succeed(world, ["promote", "--json", ...args]);
  return JSON.parse(ended.stdout) as Promoted;
}

describe("promote --rebase", () => {
  test("puts the run's commits on top of what came meanwhile, with author, message and mode", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    const mine = goOn(world);
    const refused = await refuse(world, ["promote", run.id], { code: "promote-refused" });
    expect(refused.cure).toMatch(/--rebase.*--squash.*git merge agent\/T1/);
    const landed = await promoted(world, [run.id, "--rebase", "--accept", "symlink"]);
    expect(landed).toMatchObject({ how: "rebase", before: mine, after: headOf(world), commits: 2 });
    expect(landed.comparison).toMatchObject({ verdict: "same" });
    const form = "--format=%an <%ae> %ad%n%B";
    expect(world.git("log", form, `${mine}..HEAD`)).toBe(
      world.git("log", form, `${run.base}..${run.head}`),
    );
    expect(world.git("rev-parse", "HEAD~2")).toBe(mine);
    expect(world.git("diff", "--name-only", run.head, "HEAD")).toBe("mine.txt");
    expect(world.git("log", "-1", "--format=%cn")).toBe("guardloop");
    expect(world.git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(world.repo, "T1.txt"), "utf8")).toBe("work on T1\n");
    expect((await show(world)).promotion).toMatchObject({ how: "rebase", before: mine });
    expect((await succeed(world, ["show", run.id])).stdout).toMatch(/Promoted .*, rebase$/m);
  });

  test("shows what is different from the review, its text escaped", async () => {
    using world = makeWorld();
    world.write("list.txt", "1\n2\n3\n4\n5\n6\n");
    world.commit("A list");
    const run = await readyRun(world, `sed -i 's/6/six/' list.txt`);
    goOn(world, "list.txt", "1\n2\n3\n\u001B[31mfour\n5\n6\n");
    const before = checkoutDigest(world);
    const dry = await succeed(world, ["promote", run.id, "--rebase", "--dry-run"]);
    expect(dry.stdout).toContain("+ <U+001B>[31mfour");
    expect(dry.stdout).toMatch(/Would promote T1 by rebase: main .* Nothing was changed\./);
    expect(checkoutDigest(world)).toBe(before);
    expect(world.git("fsck", "--unreachable", "--no-reflogs")).not.toContain("commit");
    await succeed(world, ["promote", run.id, "--rebase"]);
    expect(readFileSync(join(world.repo, "list.txt"), "utf8")).toContain("six");
  });

  test("is a plain fast-forward where the branch has not moved", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const landed = await promoted(world, [run.id, "--rebase"]);
    expect(landed).toMatchObject({ how: "fast-forward", after: run.head, comparison: null });
    expect((await show(world)).promotion).toMatchObject({ how: "fast-forward" });
  });

  test("leaves out a commit that the branch has already, and refuses when that is all of them", async () => {
    using world = makeWorld();
    const run = await readyRun(world, TWO_COMMITS);
    world.git("cherry-pick", run.head);
    const landed = await promoted(world, [run.id, "--rebase", "--dry-run"]);
    expect(landed).toMatchObject({ commits: 1, dropped: ["Do T1"] });
    world.git("cherry-pick", `${run.head}~1`);
    const before = checkoutDigest(world);
    for (const flag of ["--rebase", "--squash"]) {
      const said = await refuse(world, ["promote", run.id, flag], { code: "promote-refused" });
      expect(said.message).toContain("is already in main");
    }
    expect(checkoutDigest(world)).toBe(before);
  });

  test("lists the files of a conflict by commit, and changes nothing", async () => {
    using world = makeWorld();
    const run = await readyRun(
      world,
      `echo x > a.txt; git add -A; ${AGENT_COMMIT}; echo y > b.txt`,
    );
    goOn(world, "T1.txt", "my own\n");
    goOn(world, "a.txt", "my own\n");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.details).toEqual([
      expect.stringMatching(/^[0-9a-f]{12} Part$/),
      "  T1.txt",
      "  a.txt",
      "1 more commit after it, not tried",
    ]);
    const squash = await refuse(world, ["promote", run.id, "--squash"], {
      code: "promote-refused",
    });
    expect(squash.details).toEqual(["T1.txt", "a.txt"]);
    expect(checkoutDigest(world)).toBe(before);
    expect(existsSync(join(world.state, "runs", run.id, "landing.git"))).toBe(false);
  });

  test("checks the new tree like an import: together the two sides may make what neither had", async () => {
    using world = makeWorld();
    const run = await readyRun(
      world,
      `mkdir -p tools; echo 'ref: refs/heads/x' > tools/HEAD; mkdir tools/refs; echo x > tools/refs/x`,
    );
    goOn(world, "tools/objects/x", "x\n");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", run.id, "--rebase"], {
      code: "import-refused",
      status: 4,
    });
    expect(said.message).toContain("bare repository");
    expect(checkoutDigest(world)).toBe(before);
  });

  test("computes findings where it lands, and takes those that are accepted", async () => {
    using world = makeWorld();
    const run = await readyRun(
      world,
      "mkdir -p .github/workflows; echo on > .github/workflows/a.yml",
    );
    goOn(world);
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.message).toContain("on top of what main has now");
    expect(said.cure).toContain("--accept protected-ci");
    expect(headOf(world)).not.toBe(run.head);
    await succeed(world, ["promote", run.id, "--rebase", "--accept", "protected-ci"]);
  });

  test("finds what is wrong only where it lands", async () => {
    using world = makeWorld();
    const run = await readyRun(world, "echo theirs > Notes.txt");
    await succeed(world, ["promote", run.id, "--dry-run"]);
    goOn(world, "notes.txt");
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.details).toEqual([expect.stringContaining("case-collision"), "  Notes.txt"]);
  });

  test("and --squash exclude each other", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const both = ["promote", run.id, "--rebase", "--squash"];
    const said = await refuse(world, both, { code: "usage", status: 2 });
    expect(said.cure).toBe("Pass one of them.");
  });

  test("never overwrites a file that Git ignores", async () => {
    using world = makeWorld();
    world.write(".gitignore", "*.local\n");
    world.commit("Ignore");
    const run = await readyRun(
      world,
      `echo theirs > app.local; git add -A; git add -f app.local; ${AGENT_COMMIT}`,
    );
    goOn(world);
    world.write("app.local", "mine\n");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.details.join("\n")).toContain("app.local");
    expect(checkoutDigest(world)).toBe(before);
  });

  test("is refused in order when somebody commits at the very moment", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    goOn(world);
    whenGitRuns(world, "merge --ff-only", ["REAL commit -q --allow-empty -m Meanwhile"]);
    const said = await refuse(world, ["promote", run.id, "--rebase"], { code: "promote-refused" });
    expect(said.message).toContain("main moved");
    expect(world.git("log", "-1", "--format=%s")).toBe("Meanwhile");
    expect(world.git("status", "--porcelain")).toBe("");
    expect((await show(world)).run.state).toBe("ready");
    whenGitRuns(world, "nothing", []);
    await succeed(world, ["promote", run.id, "--rebase"]);
  });

  test("of two at once one lands and the other is refused in order", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const mine = goOn(world);
    const args = ["promote", run.id, "--rebase"];
    const both = await Promise.all([world.guardloop(args), world.guardloop(args)]);
    const codes = both.map((one) => one.code);
    expect(codes.filter((code) => code === 0)).toHaveLength(1);
    expect(codes.some((code) => code === 2 || code === 3)).toBe(true);
    expect(world.git("rev-parse", "HEAD~1")).toBe(mine);
  });
});

describe("a stack whose base has moved", () => {
  test("lands in order with --with-parents, each on top of the one before", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
    const [top] = await runsOf(world);
    const mine = goOn(world);
    await succeed(world, ["promote", top?.id ?? "", "--with-parents", "--rebase"]);
    expect((await runsOf(world)).map((run) => run.state)).toEqual(["promoted", "promoted"]);
    expect(world.git("rev-parse", "HEAD~2")).toBe(mine);
    expect(world.git("log", "--reverse", "--format=%s", `${mine}..HEAD`)).toBe("Do T1\nDo T2");
    await succeed(world, ["rollback", top?.id ?? ""]);
    expect(world.git("rev-parse", "HEAD~1")).toBe(mine);
  });

  test("a child whose parent was squashed lands with --rebase", async () => {
    using world = makeWorld();
    await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
    const [top, below] = await runsOf(world);
    goOn(world);
    await succeed(world, ["promote", below?.id ?? "", "--squash"]);
    const said = await refuse(world, ["promote", top?.id ?? ""], { code: "promote-refused" });
    expect(said.cure).toContain("--rebase");
    await succeed(world, ["promote", top?.id ?? "", "--rebase"]);
    expect(world.git("show", "HEAD:T2.txt")).toBe("work on T2");
  });
});
