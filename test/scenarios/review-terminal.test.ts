import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { headOf, readyRun, show } from "../rig/lifecycle.ts";
import { CTRL_C, ENTER, UP, onTerminal } from "../rig/terminal.ts";
import { FINISH, type World, makeWorld } from "../rig/world.ts";

// A person at a terminal: the pager, then the question.

const QUESTION = "What now?";
const LATER = { after: QUESTION, type: ENTER };
const DISCARD = { after: QUESTION, type: `${UP}${ENTER}` };
const PROMOTE = { after: QUESTION, type: `${UP}${UP}${ENTER}` };

/** Puts a pager on the disk that keeps what it was handed, and prints a mark for the test to wait for. */
function pagerIn(world: World): { readonly program: string; readonly got: () => string } {
  const program = join(world.root, "pager");
  const file = join(world.root, "paged");
  writeFileSync(program, `#!/bin/sh\ncat > '${file}'\necho "paged, LESS=$LESS LV=$LV"\n`);
  chmodSync(program, 0o755);
  return { program, got: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

const PLAIN = { GIT_PAGER: "cat" };
const WORKFLOW = "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml";
const PLANTED = "ln -s /etc/passwd out";

describe("the pager of a review", () => {
  test("is the user's, and gets the summary and the diff, in colour", async () => {
    using world = makeWorld();
    await readyRun(world);
    const pager = pagerIn(world);
    const seen = await onTerminal(world, ["review", "@last"], {
      env: { PAGER: pager.program },
      steps: [LATER],
    });
    expect(seen.code).toBe(0);
    expect(seen.screen).toContain("paged, LESS=FRX LV=-c");
    expect(seen.screen).not.toContain("+work on T1");
    expect(pager.got()).toContain("one.txt exists");
    expect(pager.got()).toContain("\u001B[32m+work on T1\u001B[39m");
  });

  test("is chosen as Git does: GIT_PAGER, core.pager, PAGER; LESS and LV are left as they are", async () => {
    using world = makeWorld();
    await readyRun(world);
    const pager = pagerIn(world);
    const bad = "echo wrong pager; cat";
    world.git("config", "core.pager", pager.program);
    const configured = { PAGER: bad, LESS: "R", LV: "x" };
    const first = await onTerminal(world, ["review", "@last", "--diff"], { env: configured });
    expect(first.screen).toContain("paged, LESS=R LV=x");
    const own = { GIT_PAGER: "echo own; cat", PAGER: bad };
    const second = await onTerminal(world, ["review", "@last", "--diff"], { env: own });
    expect(second.screen).toContain("own\n");
    expect(second.screen).toContain("+work on T1");
    for (const seen of [first, second]) expect(seen.screen).not.toContain("wrong pager");
  });

  test.each(["cat", ""])("none when it is %j, and none with --no-pager", async (none) => {
    using world = makeWorld();
    await readyRun(world);
    const pager = pagerIn(world);
    const env = { GIT_PAGER: none, PAGER: pager.program };
    const seen = await onTerminal(world, ["review", "@last", "--diff"], { env });
    expect(seen.screen).toContain("+work on T1");
    const off = { env: { PAGER: pager.program } };
    const unpaged = await onTerminal(world, ["review", "--no-pager", "@last", "--diff"], off);
    expect(unpaged.screen).toContain("+work on T1");
    expect(pager.got()).toBe("");
  });

  test("that cannot be started is said, and everything is printed without it", async () => {
    using world = makeWorld();
    await readyRun(world);
    const env = { PAGER: "no-such-pager -x" };
    const seen = await onTerminal(world, ["review", "@last"], { env, steps: [LATER] });
    expect(seen.code).toBe(0);
    expect(seen.screen).toContain('The pager "no-such-pager -x" could not be started');
    expect(seen.screen).toContain("+work on T1");
  });

  test("that the repository planted on a relative PATH is not run", async () => {
    using world = makeWorld();
    world.write("less", "#!/bin/sh\ntouch planted\n");
    chmodSync(join(world.repo, "less"), 0o755);
    world.commit("A pager");
    await readyRun(world);
    const env = { PATH: `.:${world.env["PATH"] ?? ""}`, PAGER: "less -FRX" };
    await onTerminal(world, ["review", "@last", "--stat"], { env });
    expect(existsSync(join(world.repo, "planted"))).toBe(false);
  });

  test("lives on when Ctrl-C is pressed in it, as less does; the question comes after its end", async () => {
    using world = makeWorld();
    await readyRun(world);
    const stopped = join(world.root, "stopped");
    const program = join(world.root, "patient");
    const lines = `trap 'touch ${stopped}' INT\ncat > /dev/null\necho reading; read key < /dev/tty\nread key < /dev/tty\necho left`;
    writeFileSync(program, `#!/bin/bash\n${lines}\n`);
    chmodSync(program, 0o755);
    const seen = await onTerminal(world, ["review", "@last"], {
      // With a shell in between that does not just become the pager.
      env: { PAGER: `${program}; true` },
      steps: [
        { after: "reading", type: CTRL_C },
        { after: "^C", type: "\n\n" },
        { after: "left", type: "" },
        LATER,
      ],
    });
    expect(seen.code).toBe(0);
    expect(existsSync(stopped)).toBe(true);
    expect(seen.screen).not.toContain("ending in order");
    expect(seen.screen).toContain("Nothing was decided");
  });
});

describe("the question after a review", () => {
  test("lets a clean run land, and says what the command would say", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const seen = await onTerminal(world, ["review", "@last"], { env: PLAIN, steps: [PROMOTE] });
    expect(seen.code).toBe(0);
    expect(seen.screen).toContain(`Take it back with: guardloop rollback ${run.id}`);
    expect(headOf(world)).toBe(run.head);
    expect((await show(world)).promotion).toMatchObject({ accepted: [], why: "" });
  });

  test("drops a run", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    const seen = await onTerminal(world, ["review", "@last"], { env: PLAIN, steps: [DISCARD] });
    expect(seen.screen).toContain(`Discarded ${run.branch}.`);
    expect((await show(world)).run.state).toBe("discarded");
  });

  test.each([
    ["later", LATER],
    ["Ctrl-C", { after: QUESTION, type: CTRL_C }],
  ])("changes nothing on %s, exits with 0 and says what to type", async (_, step) => {
    using world = makeWorld();
    const run = await readyRun(world);
    const seen = await onTerminal(world, ["review", "@last"], { env: PLAIN, steps: [step] });
    expect(seen.code).toBe(0);
    expect(seen.screen).toContain("Nothing was decided. The run stays ready");
    expect(seen.screen).toContain(`Land it:  guardloop promote ${run.id}`);
    expect((await show(world)).run.state).toBe("ready");
    expect(headOf(world)).toBe(run.base);
  });

  test("has each blocking finding accepted by itself, and keeps who accepted what and why", async () => {
    using world = makeWorld();
    const run = await readyRun(world, `${WORKFLOW}; ${PLANTED}`);
    const seen = await onTerminal(world, ["review", "@last"], {
      env: PLAIN,
      steps: [
        PROMOTE,
        { after: "Accept protected-ci?", type: "y" },
        { after: "Accept symlink-escaping?", type: "y" },
        { after: "Why is that all right?", type: `looked at both${ENTER}` },
      ],
    });
    expect(seen.code).toBe(0);
    expect(headOf(world)).toBe(run.head);
    const { promotion } = (await show(world)) as unknown as { promotion: { by: string } };
    expect(promotion).toMatchObject({
      why: "looked at both",
      accepted: [
        "protected-ci:.github/workflows/ci.yml",
        expect.stringContaining("symlink-escaping"),
      ],
    });
    expect(promotion.by).not.toBe("");
  });

  test.each([
    ["a mere Enter", ENTER, "You did not accept symlink-escaping."],
    ["Ctrl-C", CTRL_C, "Nothing was promoted."],
  ])("lands nothing when one of them gets %s", async (_, answer, said) => {
    using world = makeWorld();
    const run = await readyRun(world, `${WORKFLOW}; ${PLANTED}`);
    const seen = await onTerminal(world, ["review", "@last"], {
      env: PLAIN,
      steps: [
        PROMOTE,
        { after: "Accept protected-ci?", type: "y" },
        { after: "Accept symlink-escaping?", type: answer },
      ],
    });
    expect(seen.code).toBe(0);
    expect(seen.screen).toContain(said);
    expect(seen.screen).toContain("--accept symlink-escaping");
    expect(headOf(world)).toBe(run.base);
    expect((await show(world)).run.state).toBe("ready");
  });

  test("offers a run that failed its validation only with a reason, which is recorded", async () => {
    using world = makeWorld();
    await world.run(`${FINISH} echo x > x.txt`, ["--validate", "bad: false"]);
    const seen = await onTerminal(world, ["review", "@last"], {
      env: PLAIN,
      steps: [
        { after: "promote without validation", type: `${UP}${UP}${ENTER}` },
        { after: "The validation failed. Why", type: ENTER },
        { after: "A few words, please", type: `known to be broken${ENTER}` },
      ],
    });
    expect(seen.code).toBe(0);
    expect((await show(world)).promotion).toMatchObject({
      withoutValidation: "known to be broken",
    });
  });

  test("gives a refusal the exit status that the command gives it", async () => {
    using world = makeWorld();
    await readyRun(world);
    world.write("dirt.txt", "x");
    const seen = await onTerminal(world, ["review", "@last"], { env: PLAIN, steps: [PROMOTE] });
    expect(seen.code).toBe(3);
    expect(seen.screen).toContain("dirt.txt");
  });

  test("is not asked for a part, for JSON, or for a run that is decided", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    for (const part of ["--diff", "--stat", "--findings", "--patch", "--json"]) {
      const seen = await onTerminal(world, ["review", "@last", part], { env: PLAIN });
      expect(seen.code).toBe(0);
      expect(seen.screen).not.toContain(QUESTION);
    }
    await world.guardloop(["discard", run.id]);
    const seen = await onTerminal(world, ["review", "@last"], { env: PLAIN });
    expect(seen.screen).toContain("+work on T1");
    expect(seen.screen).not.toContain(QUESTION);
  });
});

/** Obeyed by terminals, or deceiving: everything below 0x20 but line feed and tab, C1, bidi, invisible characters. */
const STEERING =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/u;
/** The only sequences that are ours. */
const OUR_COLOURS =
  // oxlint-disable-next-line no-control-regex
  /\u001B\[\d{1,2}m/g;
const NASTY = "\u001B]0;title\u0007\u001B[2J\u009B31m\rover\u202Egnp\u2066x\u200B\bNASTY";
const IN_SHELL = Buffer.from(NASTY, "utf8").reduce(
  (text, byte) => `${text}\\${byte.toString(8).padStart(3, "0")}`,
  "",
);

test("hostile text reaches the terminal and the pager without a single byte that steers", async () => {
  using world = makeWorld();
  // A carriage return would end the title in Markdown.
  const title = NASTY.replace("\r", "");
  world.write("docs/TASKS.md", `# Plan\n\n## T1 — Title ${title}\n\nStatus: ready\n`);
  // Such names are refused when they are new; these are the user's own already.
  for (const name of [
    `file ${NASTY}.txt`,
    `.github/workflows/${NASTY}.yml`,
    `${NASTY}\n  M  innocent`,
  ])
    world.write(name, "mine\n");
  world.commit("A nasty plan");
  await world.run(`
nasty=$(printf '${IN_SHELL}')
echo "content $nasty" > "file $nasty.txt"; echo x >> "$nasty
  M  innocent"; ln -s "/etc/$nasty
  M  innocent" link
echo "$nasty" > ".github/workflows/$nasty.yml"
git add -A; git -c user.name="Name $(printf '\\342\\200\\256')x" -c user.email="m@b.invalid" commit -q -m "Subject $(printf '\\342\\200\\256')x"
${FINISH}`);
  const pager = pagerIn(world);
  const env = { GIT_PAGER: `tee '${join(world.root, "copy")}' | ${pager.program}` };
  const seen = await onTerminal(world, ["review", "@last"], {
    env,
    steps: [PROMOTE, { after: "Accept protected-ci?", type: "n" }],
  });
  const paged = pager.got();
  for (const words of ["Title", "Subject", "file ", "Name ", "+content", "symlink-escaping"])
    expect(paged).toContain(words);
  expect(STEERING.exec(paged.replaceAll(OUR_COLOURS, ""))?.[0]).toBeUndefined();
  // A name with a line feed in it must not look like an entry of the list.
  expect(paged).not.toMatch(/^ +M {2}innocent/m);
  // What asks moves the cursor: besides that, nothing may be left on the screen either.
  // oxlint-disable-next-line no-control-regex
  const rest = seen.screen.replaceAll(/\u001B\[[?0-9;]*[A-Za-z]|\r/g, "");
  expect(rest).toContain("NASTY");
  expect(STEERING.exec(rest)?.[0]).toBeUndefined();
  expect(seen.screen).not.toContain("\u001B]");

  for (const part of ["--patch", "--diff", "--stat", "--findings"]) {
    const plain = await onTerminal(world, ["review", "@last", part], { env: PLAIN });
    expect(plain.screen).toContain("NASTY");
    expect(STEERING.exec(plain.screen.replaceAll(OUR_COLOURS, ""))?.[0], part).toBeUndefined();
  }
});
