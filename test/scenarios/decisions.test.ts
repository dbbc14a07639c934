import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readHostEnvironment } from "../../src/config/environment.ts";
import { openPrincipal } from "../../src/git/principal.ts";
import { openHistory } from "../../src/history/sqlite.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { discard } from "../../src/run/decide/discard.ts";
import { promote } from "../../src/run/decide/promote.ts";
import { AGENT_COMMIT, headOf, readyRun, refuse, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, checkoutDigest, makeWorld } from "../rig/world.ts";

describe("promote lands exactly the reviewed commits", () => {
  test("by a fast-forward, with who and why on record", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const ended = await succeed(world, ["promote", run.id, "--why", "read it", "--json"]);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      version: 1,
      run: run.id,
      mode: "for-real",
      before: run.base,
      after: run.head,
      branch: "main",
    });
    expect(headOf(world)).toBe(run.head);
    expect(world.git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
    expect(readFileSync(join(world.repo, "T1.txt"), "utf8")).toBe("work on T1\n");
    const shown = await show(world);
    expect(shown.run.state).toBe("promoted");
    expect(shown.promotion).toMatchObject({ before: run.base, after: run.head, why: "read it" });
  });

  test("a dry run checks everything and changes nothing", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const before = checkoutDigest(world);
    const ended = await succeed(world, ["promote", run.id, "--dry-run"]);
    expect(ended.stdout).toContain("Nothing was changed");
    expect(checkoutDigest(world)).toBe(before);
    expect((await show(world)).run.state).toBe("ready");
    world.write("dirt.txt", "x");
    await refuse(world, ["promote", run.id, "--dry-run"], { code: "dirty-checkout" });
  });

  test("promoting a second time is refused, and so is what needs another state", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const wrong = { code: "not-in-this-state", status: 2 };
    await refuse(world, ["rollback", run.id], wrong);
    await refuse(world, ["restore", run.id], wrong);
    await succeed(world, ["promote", run.id]);
    const before = checkoutDigest(world);
    for (const verb of ["promote", "discard", "restore"])
      await refuse(world, [verb, run.id], wrong);
    expect(checkoutDigest(world)).toBe(before);
  });

  test("a failed run cannot be promoted or discarded", async () => {
    using world = makeWorld();
    await world.run("true");
    for (const verb of ["promote", "discard", "rollback", "restore", "review"]) {
      const said = await refuse(world, [verb, "@last"], { code: "not-in-this-state", status: 2 });
      expect(said.cure).toContain("guardloop show");
    }
  });

  test("a run of another repository is refused, naming the directory to change to", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const other = join(world.root, "other");
    world.git("clone", "-q", world.repo, other);
    for (const verb of ["promote", "discard"]) {
      const at = { cwd: other };
      const said = await refuse(
        world,
        [verb, run.id],
        { code: "not-in-this-state", status: 2 },
        at,
      );
      expect(said.cure).toContain(world.repo);
    }
  });
});

describe("promote is refused, and changes nothing", () => {
  type Obstacle = readonly [
    name: string,
    code: string,
    disturb: (world: World, branch: string) => void,
    cure: RegExp,
  ];
  const OBSTACLES: readonly Obstacle[] = [
    [
      "an untracked file",
      "dirty-checkout",
      (world) => world.write("mine.txt", "x"),
      /ignore the listed/,
    ],
    ["a tracked change", "dirty-checkout", (world) => world.write("src/app.txt", "x"), /stash/],
    [
      "another branch",
      "promote-refused",
      (world) => world.git("checkout", "-q", "-b", "other"),
      /Check out main/,
    ],
    [
      "a detached HEAD",
      "detached-head",
      (world) => world.git("checkout", "-q", "--detach"),
      /Check out/,
    ],
    [
      "a checkout that went on",
      "promote-refused",
      (world) => world.git("commit", "-q", "--allow-empty", "-m", "Mine"),
      /git merge agent\/T1/,
    ],
    [
      "an agent branch that somebody moved",
      "promote-refused",
      (world, branch) => world.git("branch", "-f", branch, `${branch}~1`),
      /git branch -f agent\/T1/,
    ],
    [
      "an agent branch that is gone",
      "promote-refused",
      (world, branch) => world.git("branch", "-D", branch),
      /git branch -f agent\/T1/,
    ],
    [
      "a bisect under way",
      "operation-under-way",
      (world) => world.git("bisect", "start"),
      /[Ff]inish or abort/,
    ],
  ];

  test(`by ${OBSTACLES.map(([name]) => name).join(", by ")}`, async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    for (const [name, code, disturb, cure] of OBSTACLES) {
      disturb(world, run.branch);
      const before = checkoutDigest(world);
      const said = await refuse(world, ["promote", run.id], { code });
      expect([name, said.cure]).toEqual([name, expect.stringMatching(cure)]);
      expect([name, checkoutDigest(world)]).toEqual([name, before]);
      expect([name, (await show(world)).run.state]).toEqual([name, "ready"]);
      if (name.startsWith("a bisect")) world.git("bisect", "reset");
      world.git("checkout", "-q", "-f", "-B", "main", run.base);
      world.git("clean", "-fdq");
      world.git("branch", "-f", run.branch, run.head);
    }
    await succeed(world, ["promote", run.id]);
  });

  test("the cure for a moved agent branch works", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    world.git("branch", "-f", run.branch, "main");
    const { cure } = await refuse(world, ["promote", run.id], { code: "promote-refused" });
    const command = cure.slice(cure.indexOf("git branch"));
    execFileSync("sh", ["-c", command], { cwd: world.repo, env: world.env });
    await succeed(world, ["promote", run.id]);
    expect(headOf(world)).toBe(run.head);
  });

  test("over a file that Git ignores: it is the user's all the same", async () => {
    using world = makeWorld();
    world.write(".gitignore", "*.local\nprivate/\n");
    world.commit("Ignore");
    const run = await readyRun(
      world,
      `echo theirs > app.local; mkdir private; echo theirs > private/x; git add -A; git add -f app.local private/x; ${AGENT_COMMIT}`,
    );
    world.write("app.local", "mine\n");
    world.write("private/y", "mine too\n");
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", run.id], { code: "promote-refused" });
    expect(said.details.join("\n")).toContain("app.local");
    expect(checkoutDigest(world)).toBe(before);
    rmSync(join(world.repo, "app.local"));
    await succeed(world, ["promote", run.id]);
    expect(readFileSync(join(world.repo, "private/y"), "utf8")).toBe("mine too\n");
  });

  test("where a directory of ignored files stands in for a file", async () => {
    using world = makeWorld();
    world.write(".gitignore", "cache/\n");
    world.commit("Ignore");
    const run = await readyRun(world, "echo file > cache; git add -f cache");
    world.write("cache/precious", "mine\n");
    const before = checkoutDigest(world);
    await refuse(world, ["promote", run.id], { code: "promote-refused" });
    expect(checkoutDigest(world)).toBe(before);
  });

  test("when somebody commits between the check and the landing", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    // Commits on main as soon as guardloop begins to merge.
    const wrapper = `#!/bin/sh
for word; do case "$word" in merge)
  ${real} -C ${world.repo} -c user.name=A -c user.email=a@b.invalid commit -q --allow-empty -m Meanwhile;;
esac; done
exec ${real} "$@"
`;
    writeFileSync(join(world.bin, "git"), wrapper);
    chmodSync(join(world.bin, "git"), 0o755);
    await refuse(world, ["promote", run.id], { code: "promote-refused" });
    rmSync(join(world.bin, "git"));
    expect(world.git("log", "-1", "--format=%s")).toBe("Meanwhile");
    expect(world.git("rev-parse", "HEAD~1")).toBe(run.base);
    expect(world.git("status", "--porcelain")).toBe("");
    expect((await show(world)).run.state).toBe("ready");
  });

  test("out of order in a stack; in order each lands", async () => {
    using world = makeWorld();
    const ended = await world.run(GOOD_AGENT, ["--max-tasks", "2"]);
    expect(ended.code).toBe(0);
    const second = (await show(world)).run;
    const first = second.parentRun ?? "";
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", second.id], { code: "promote-refused" });
    expect(said.cure).toContain(`Promote ${first} first`);
    expect(checkoutDigest(world)).toBe(before);
    await succeed(world, ["discard", first]);
    const now = await refuse(world, ["promote", second.id], { code: "promote-refused" });
    expect(now.cure).toContain(`guardloop restore ${first}`);
    await succeed(world, ["restore", first]);
    await succeed(world, ["promote", first]);
    await succeed(world, ["promote", second.id]);
    expect(headOf(world)).toBe(second.head);
  });
});

describe("blocking findings", () => {
  const CI =
    "mkdir -p .github/workflows; for n in a b; do echo on: push > .github/workflows/$n.yml; done";
  const paths = ["a", "b"].map((name) => `protected-ci:.github/workflows/${name}.yml`);
  const accepts = (...codes: readonly string[]) => codes.flatMap((code) => ["--accept", code]);

  test("stop a promotion, and the refusal says what to type", async () => {
    using world = makeWorld();
    const run = await readyRun(world, CI);
    const before = checkoutDigest(world);
    const said = await refuse(world, ["promote", run.id], { code: "promote-refused" });
    expect(said.cure).toContain("--accept protected-ci");
    expect(said.details.join("\n")).toContain(".github/workflows/a.yml");
    for (const wrong of [["protected-git"], [paths[0] ?? ""], ["protected-ci:"], [""]])
      await refuse(world, ["promote", run.id, ...accepts(...wrong)], { code: "promote-refused" });
    expect(checkoutDigest(world)).toBe(before);
  });

  test("are accepted by code, or by code and each path, and that is on record", async () => {
    using world = makeWorld();
    const run = await readyRun(world, CI);
    for (const accepted of [["protected-ci"], paths]) {
      await succeed(world, ["promote", run.id, ...accepts(...accepted)]);
      expect((await show(world)).promotion?.accepted).toEqual(accepted);
      await succeed(world, ["rollback", run.id]);
      await succeed(world, ["restore", run.id]);
    }
  });

  test("a run whose review was lost is not promoted unseen", async () => {
    using world = makeWorld();
    const run = await readyRun(world, CI);
    rmSync(join(world.state, "runs", run.id, "review.json"));
    await refuse(world, ["promote", run.id], { code: "promote-refused" });
    expect(headOf(world)).toBe(run.base);
  });
});

describe("two at once", () => {
  test("of two promotions one lands and the other is refused in order", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    for (let round = 0; round < 3; round += 1) {
      const args = ["promote", run.id, "--json"];
      const both = await Promise.all([world.guardloop(args), world.guardloop(args)]);
      const codes = new Set(both.map((one) => one.code));
      expect(codes.has(0)).toBe(true);
      expect(codes.has(2) || codes.has(3)).toBe(true);
      expect(headOf(world)).toBe(run.head);
      expect(world.git("status", "--porcelain")).toBe("");
      await succeed(world, ["rollback", run.id]);
      await succeed(world, ["restore", run.id]);
    }
    expect(readdirSync(join(world.state, "locks"))).toEqual([]);
  });

  test("a decision made between the look-up of a run and the lock is seen", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const env = readHostEnvironment(world.env);
    const git = findProgram("git", env.path) ?? "";
    const principal = await openPrincipal(git, env, world.repo);
    const history = openHistory(env.stateDir, () => new Date());
    if (!principal.ok || !history.ok) throw new Error("the run was made with these");
    using open = history.value;
    const lookedUp = open.run(run.id);
    if (lookedUp === undefined) throw new Error("the run is there");
    await succeed(world, ["promote", run.id]);
    const services = {
      env,
      gitProgram: git,
      principal: principal.value,
      history: open,
      now: () => new Date(),
    };
    const decision = { run: lookedUp, by: "somebody", why: "" };
    const late = await promote(services, {
      ...decision,
      how: "fast-forward",
      validateTree: async () => ({ ok: true, value: null }),
      onLanding: () => undefined,
      accepted: [],
      acceptedFor: "this-run",
      mode: "for-real",
      withoutValidation: undefined,
    });
    expect(late).toMatchObject({ ok: false, error: { code: "not-in-this-state" } });
    expect(await discard(services, decision)).toMatchObject({ ok: false });
    const promotions = open.events(run.id).filter(({ event }) => event.type === "run-promoted");
    expect(promotions).toHaveLength(1);
  });

  test("a lock whose owner is dead holds nobody up", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    mkdirSync(join(world.state, "locks"), { recursive: true });
    const id = readdirSync(join(world.state, "worktrees"))[0] ?? "";
    const owner = { pid: 2 ** 22 + 1, startTime: "1", bootId: "gone", host: "elsewhere" };
    const here = execFileSync("hostname", { encoding: "utf8" }).trim();
    writeFileSync(join(world.state, "locks", id), JSON.stringify({ ...owner, host: here }));
    await succeed(world, ["promote", run.id]);
    expect(readdirSync(join(world.state, "locks"))).toEqual([]);
  });
});
