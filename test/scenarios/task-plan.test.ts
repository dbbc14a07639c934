import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, refuse, show, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, makeWorld } from "../rig/world.ts";

interface Listed {
  readonly version: number;
  readonly tasks: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
    readonly notRunnable: string | null;
    readonly position: { readonly file: string; readonly line: number };
  }[];
  readonly diagnostics: readonly { readonly message: string }[];
}

const listTasks = async (world: World, ...flags: readonly string[]) =>
  JSON.parse((await succeed(world, ["tasks", "--json", ...flags])).stdout) as Listed;

function fixture(name: string): string {
  return readFileSync(new URL(`../tasks/fixtures/${name}.txt`, import.meta.url), "utf8");
}

/** Takes the first task of the prompt and marks it done where the prompt says it stands. */
const FROM_PROMPT = `
id=$(sed -n 's/^- \`\\([^\`]*\\)\`: .*/\\1/p' "$GUARDLOOP_PROMPT" | head -n 1)
where=$(sed -n 's/^- \`.*(\\([^():]*:[0-9]*\\))$/\\1/p' "$GUARDLOOP_PROMPT" | head -n 1)
file=\${where%:*}; line=\${where#*:}
awk -v line="$line" 'NR >= line && !marked && /[Ss]tatus:/ {sub(/(\`?)(NEXT|[Pp]ending|ready|todo)(\`?)$/, "done"); marked=1} {print}' "$file" > "$TMPDIR/plan.$$"
cat "$TMPDIR/plan.$$" > "$file"
cp "$GUARDLOOP_PROMPT" prompt.txt
echo "$id" > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
echo "Do $id" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;

describe("every shape of plan is read, offered, and seen as done after the run", () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    ["shape-a", ["T2A"], ["T2B"]],
    ["shape-b", ["TASK-0003"], []],
    ["shape-c", ["M0-T2", "M0-T3"], ["M0-T3"]],
    ["shape-d", ["TASK-12"], []],
  ])("%s", async (shape, runnable, after) => {
    using world = makeWorld();
    world.write("docs/TASKS.md", fixture(shape));
    world.commit(shape);
    const ids = (listed: Listed) =>
      listed.tasks.filter((task) => task.notRunnable === null).map((task) => task.id);
    const listed = await listTasks(world);
    expect(ids(listed)).toEqual(runnable);
    for (const task of listed.tasks) {
      const line = fixture(shape).split("\n")[task.position.line - 1];
      expect([task.id, line]).toEqual([task.id, expect.stringContaining(task.id)]);
    }
    const ended = await world.run(FROM_PROMPT);
    expect(ending(ended)).toBe("exit 0");
    const { run } = await show(world);
    expect(run.task).toBe(runnable[0]);
    expect(run.branch).toBe(`agent/${runnable[0]}-${run.id}`);
    await succeed(world, ["promote", run.id]);
    expect(ids(await listTasks(world))).toEqual(after);
  });

  test("one file a task: headings, quotes and front matter; an id or the file's stem", async () => {
    using world = makeWorld();
    world.git("rm", "-q", "docs/TASKS.md");
    for (const name of ["us-005", "us-008", "add-login"])
      world.write(`docs/tasks/${name}.md`, fixture(name));
    world.commit("One file a task");
    const listed = await listTasks(world);
    expect(listed.tasks.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "add-login ready",
      "US-005 done",
      "US-008 ready",
    ]);
    expect(listed.tasks[0]?.notRunnable).toMatch(/US-008/);
    const ended = await world.run(FROM_PROMPT);
    expect(ending(ended)).toBe("exit 0");
    const { run } = await show(world);
    expect(run.task).toBe("US-008");
    await succeed(world, ["promote", run.id]);
    expect((await listTasks(world)).tasks[0]).toMatchObject({ id: "add-login", notRunnable: null });
  });
});

describe("the plan is the one of the base commit", () => {
  test("edits in the working copy do not count, not even hidden ones", async () => {
    using world = makeWorld();
    world.write("docs/TASKS.md", "# Plan\n\n## X9 — Only in the working copy\n\nStatus: ready\n");
    world.git("update-index", "--assume-unchanged", "docs/TASKS.md");
    const listed = await listTasks(world);
    expect(listed.tasks.map((task) => task.id)).toEqual(["T1", "T2", "T3"]);
    const ended = await world.run(GOOD_AGENT);
    expect(ending(ended)).toBe("exit 0");
    expect((await show(world)).run.task).toBe("T1");
  });

  test("a task of a branch that is not checked out does not count", async () => {
    using world = makeWorld();
    world.git("checkout", "-q", "-b", "other");
    world.write("docs/tasks/extra.md", "# X1: Extra\n\nStatus: ready\n");
    world.commit("Extra");
    world.git("checkout", "-q", "main");
    expect((await listTasks(world)).tasks.map((task) => task.id)).not.toContain("X1");
  });

  test("in a subdirectory the same plan is read", async () => {
    using world = makeWorld();
    const ended = await world.guardloop(["tasks", "--json"], { cwd: join(world.repo, "src") });
    expect((JSON.parse(ended.stdout) as Listed).tasks).toHaveLength(3);
  });
});

describe("which tasks can be run", () => {
  test("is said with status, place and reason", async () => {
    using world = makeWorld();
    world.write(
      "docs/TASKS.md",
      [
        "# Plan\n\nStatus: ready\n",
        "## T1 — Waits for one that is not done\n\nStatus: ready\n\nDependencies: T2\n",
        "## T2 — Under way\n\nStatus: in progress\n",
        "## T3 — Nobody knows\n\nStatus: marinating\n",
        "## T4 — Planned\n\nStatus: planned\n",
        "## Notes\n\n```\n## T9 — In a fence\n\nStatus: ready\n```\n",
        "The line Status: ready in prose makes no task.\n",
      ].join("\n"),
    );
    world.commit("Plan");
    const listed = await listTasks(world);
    expect(listed.tasks.map(({ id, notRunnable }) => [id, notRunnable])).toEqual([
      ["T1", expect.stringContaining("T2")],
      ["T2", expect.stringMatching(/active|in progress/)],
      ["T3", expect.stringContaining("marinating")],
      ["T4", null],
    ]);
    const human = await succeed(world, ["tasks"]);
    expect(human.stdout).toMatch(/T3 +marinating +no: .* docs\/TASKS\.md:15 +Nobody knows/);
    expect(human.stdout).toMatch(/T4 +planned +yes +docs\/TASKS\.md:19/);
  });

  test("planned tasks can be left out", async () => {
    using world = makeWorld();
    world.write("docs/TASKS.md", "# Plan\n\n## T1 — Later\n\nStatus: planned\n");
    world.commit("Plan");
    const args = ["run", "--agent", "command", "--runnable", "ready", "--", "true"];
    const said = await refuse(world, args, { code: "no-runnable-task" });
    expect(said.details.join("\n")).toMatch(/docs\/TASKS\.md:3 T1: .*planned/);
  });

  test("ids that clash or cannot be part of a branch are refused with their lines", async () => {
    using world = makeWorld();
    const tasks = ["T1 — One", "T1 — Another", "T..2 — Dots", "T3.lock — Lock"];
    world.write(
      "docs/TASKS.md",
      `# Plan\n\n${tasks.map((task) => `## ${task}\n\nStatus: ready\n`).join("\n")}`,
    );
    world.commit("Plan");
    const said = await refuse(world, ["run", "--agent", "command", "--", "true"], {
      code: "no-runnable-task",
    });
    expect(said.details.join("\n")).toMatch(/docs\/TASKS\.md:3 T1: /);
    expect(said.details.join("\n")).toMatch(/docs\/TASKS\.md:7 T1: /);
  });
});

describe("another place for the plan", () => {
  test("by --plan, for the list and for a run", async () => {
    using world = makeWorld();
    world.git("mv", "docs/TASKS.md", "work.md");
    world.commit("Moved");
    await refuse(world, ["tasks"], { code: "no-task-plan" });
    expect((await listTasks(world, "--plan", "w*.md")).tasks).toHaveLength(3);
    const agent = GOOD_AGENT.replaceAll("docs/TASKS.md", "work.md");
    const ended = await world.run(agent, ["--plan", "work.md"]);
    expect(ending(ended)).toBe("exit 0");
    expect((await show(world)).run.task).toBe("T1");
  });

  test("a plan outside of the repository is a mistake on the command line", async () => {
    using world = makeWorld();
    for (const glob of ["../other/*.md", "/etc/*.md"]) {
      const args = ["tasks", "--plan", glob];
      const said = await refuse(world, args, { code: "config-invalid", status: 2 });
      expect(said.message).toContain("--plan");
    }
  });
});
