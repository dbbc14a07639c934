// Stands in for a coding agent and keeps the same agreement: it takes one of the tasks that the prompt offers, does it,
// updates the plan, writes the two artifacts and stops. The work itself is prepared in tools/work/<task id>.
// oxlint-disable no-restricted-imports -- this program runs in the container; it is no part of guardloop
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { env, stdout } from "node:process";

const PLAN = "docs/TASKS.md";
const say = (line) => stdout.write(`${line}\n`);

/** The tasks of the plan: id, title, status and what they depend on. */
function tasksOf(plan) {
  return plan.split(/^(?=## )/m).flatMap((section) => {
    const heading = /^## (\S+) — (.+)$/m.exec(section);
    const status = /^Status: (\S+)$/m.exec(section);
    if (heading === null || status === null) return [];
    const dependencies = /^Dependencies:\n\n((?:- .+\n)+)/m.exec(section)?.[1] ?? "";
    return [
      {
        id: heading[1],
        title: heading[2],
        status: status[1],
        needs: dependencies.match(/\bT\d+\b/g) ?? [],
      },
    ];
  });
}

/** The first task that can be done now and that the prompt names. */
function choose(tasks, prompt) {
  const done = new Set(tasks.filter((task) => task.status === "done").map((task) => task.id));
  const open = tasks.filter((task) => task.status === "ready" || task.status === "planned");
  const runnable = open.filter((task) => task.needs.every((id) => done.has(id)));
  return runnable.find((task) => new RegExp(`\\b${task.id}\\b`).test(prompt));
}

function markDone(plan, id) {
  const sections = plan.split(/^(?=## )/m);
  return sections
    .map((section) =>
      section.startsWith(`## ${id} `) ? section.replace(/^Status: \S+$/m, "Status: done") : section,
    )
    .join("");
}

function commit(message) {
  execFileSync("git", ["add", "--all"], { stdio: "inherit" });
  execFileSync("git", ["commit", "--quiet", "--message", message], { stdio: "inherit" });
}

const plan = readFileSync(PLAN, "utf8");
const task = choose(tasksOf(plan), readFileSync(env.GUARDLOOP_PROMPT, "utf8"));
if (task === undefined)
  throw new Error(`${PLAN} has no task that the prompt offers and that can be done now`);

say(`Doing ${task.id}: ${task.title}`);
cpSync(join("tools", "work", task.id), ".", { recursive: true });
writeFileSync(PLAN, markDone(plan, task.id));
execFileSync("npm", ["test", "--silent"], { stdio: "inherit" });

const message = `${task.title}\n\nTask ${task.id} of ${PLAN}.\n`;
writeFileSync(join(env.GUARDLOOP_ARTIFACTS, "selected-task-id.txt"), `${task.id}\n`);
writeFileSync(join(env.GUARDLOOP_ARTIFACTS, "last-commit-message.txt"), message);

// One task ends with a commit of the agent's own, the next leaves its work for guardloop to commit: both are fine.
if (task.id === "T1") commit(message);
say(`Done with ${task.id}`);
