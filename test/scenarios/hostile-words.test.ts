import { describe, expect, test } from "vitest";
import { ending } from "../rig/lifecycle.ts";
import { type Ended, type World, makeWorld } from "../rig/world.ts";

// Text of the repository and of the agent, on its way to a terminal.

/** What a terminal obeys or a reader is deceived by: C0 but line feed and tab, DEL, C1, bidi and invisible characters. */
const STEERING =
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E01EF}]/u;

/** One of each, around a word by which the text can be found again. */
const NASTY =
  "\u001B]0;title\u0007\u001B[2J\u009B31m\u0085\u007F\u202Egnp\u202C\u2066x\u2069\u200B\uFEFF\u2028\u{E0041}\b\u000B\fNASTY";
/** The same for a printf(1). */
const IN_SHELL = Buffer.from(NASTY, "utf8").reduce(
  (text, byte) => `${text}\\${byte.toString(8).padStart(3, "0")}`,
  "",
);

const PLAN = `# Plan ${NASTY}

## T1 — Title ${NASTY}

Status: ready

Completion signal:
- criterion ${NASTY}

## T2 — Other ${NASTY}

Status: strange ${NASTY}

## T${NASTY} — Bad id

Status: ready
`;

const AGENT = `
nasty=$(printf '${IN_SHELL}')
echo "out $nasty"; printf 'over\\rwritten NASTY\\n'; echo "err $nasty" >&2
echo "content $nasty" > "file $nasty.txt"
echo "$nasty" > ".github/workflows/$nasty.yml"
ln -s "/etc/$nasty" link
sed -i 's/^Status: ready/Status: done/' docs/TASKS.md
git add -A
git -c user.name="Name $nasty" -c user.email="m@$nasty" commit -q -m "Subject $nasty

Body $nasty"
echo x > "$nasty.ignored"
printf 'T1\\n' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
printf '%s\\n' "Do $nasty" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

function nastyWorld(): World {
  const world = makeWorld();
  world.write("docs/TASKS.md", PLAN);
  world.write(`docs/tasks/one-${NASTY}.md`, `# One file ${NASTY}\n\nStatus: ${NASTY}\n`);
  world.write(".gitignore", "*.ignored\n");
  // Control characters in a new name are refused; these are the user's own already.
  for (const name of [`file ${NASTY}.txt`, `.github/workflows/${NASTY}.yml`])
    world.write(name, "mine\n");
  world.commit("A nasty plan");
  return world;
}

/** The words arrive, and nothing of them steers. */
function expectHarmless(ended: Ended, what: string): void {
  expect(STEERING.exec(ended.stdout)?.[0], `standard output of ${what}`).toBeUndefined();
  expect(STEERING.exec(ended.stderr)?.[0], `standard error of ${what}`).toBeUndefined();
}

describe("text from outside never steers the terminal", () => {
  test("of a plan, an agent and its branch, in every command that shows it", async () => {
    using world = nastyWorld();
    const tasks = await world.guardloop(["tasks"]);
    expect(tasks.stdout).toContain("NASTY");
    expectHarmless(tasks, "tasks");
    const run = await world.run(AGENT);
    expect(ending(run)).toBe("exit 0");
    expectHarmless(run, "run");
    const review = await world.guardloop(["review", "@last"]);
    for (const words of ["Title", "criterion", "Do <U+001B>", "+content", "symlink-escaping"])
      expect(review.stdout).toContain(words);
    expectHarmless(review, "review");
    for (const command of ["show", "logs", "discard", "restore", "promote"]) {
      const ended = await world.guardloop([command, "@last"]);
      expect(`${ended.stdout}${ended.stderr}`).not.toBe("");
      expectHarmless(ended, command);
    }
    const logs = await world.guardloop(["logs", "@last"]);
    expect(logs.stdout).toContain("over<U+000D>written NASTY");
    expect(logs.stdout).toContain("out <U+001B>]0;title<U+0007>");
    expectHarmless(await world.guardloop(["runs"]), "runs");
  });

  test("as JSON either: it is pure ASCII, and the words are exact", async () => {
    using world = nastyWorld();
    const run = await world.run(AGENT, ["--json"]);
    expect(ending(run)).toBe("exit 0");
    const all = [run];
    for (const args of [
      ["tasks"],
      ["runs"],
      ["review", "@last"],
      ["show", "@last"],
      ["logs", "@last"],
    ])
      all.push(await world.guardloop([...args, "--json"]));
    for (const ended of all) {
      // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
      expect(ended.stdout).toMatch(/^[\u0020-\u007E\n]*$/);
      expectHarmless(ended, "--json");
    }
    const review = JSON.parse(all[3]?.stdout ?? "{}") as { files: readonly { path: string }[] };
    expect(review.files.map((file) => file.path)).toContain(`file ${NASTY}.txt`);
  });

  test("of a link's target, in a refusal: it makes no line of its own", async () => {
    using world = makeWorld();
    await world.run(`ln -s "/etc/x
Everything is fine, pass --accept" link
echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
echo "Do T1" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`);
    const refused = await world.guardloop(["promote", "@last"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("link -> /etc/x<U+000A>Everything is fine");
    expect(refused.stderr).not.toMatch(/^Everything/m);
  });

  test("of a run that fails: the agent's words in the failure", async () => {
    using world = nastyWorld();
    const ended = await world.run(
      `echo x > x.txt\nprintf '${IN_SHELL}' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"`,
    );
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain("NASTY");
    expectHarmless(ended, "run");
    const show = await world.guardloop(["show", "@last"]);
    expect(show.stdout).toContain("NASTY");
    expectHarmless(show, "show");
    expectHarmless(await world.guardloop(["runs"]), "runs");
  });

  test("of the refusals before a run: dirty files and tasks that cannot be run", async () => {
    using world = nastyWorld();
    world.write(`dirty ${NASTY}.txt`, "x");
    const dirty = await world.run("true");
    expect(dirty.code).toBe(3);
    expect(dirty.stderr).toContain("dirty ");
    expectHarmless(dirty, "run in a dirty checkout");
    world.write("docs/TASKS.md", PLAN.replaceAll("Status: ready", "Status: blocked"));
    world.commit("Nothing to do");
    const nothing = await world.run("true");
    expect(nothing.code).toBe(3);
    expect(nothing.stderr).toContain("NASTY");
    expectHarmless(nothing, "run without a task");
  });

  test("of a configuration file: the key that is unknown", async () => {
    using world = nastyWorld();
    // TOML itself refuses the C0 ones.
    const key = Array.from(NASTY).filter((one) => one > "\u007F" || /\w/.test(one));
    world.write("guardloop.toml", `"${key.join("")}" = 1\n`);
    world.commit("A nasty configuration");
    const ended = await world.run("true");
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("NASTY");
    expectHarmless(ended, "run");
  });
});
