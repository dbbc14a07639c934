import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { initialToml } from "../../config/initial-toml.ts";
import { REPOSITORY_FILE } from "../../config/user-file.ts";
import { EXIT, type Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { gitOutput } from "../../git/git.ts";
import { type Principal, readHead } from "../../git/principal.ts";
import { planPathMatches } from "../../tasks/plan.ts";
import { type Context, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { bold, dim, green } from "../output/text.ts";
import { settingsFor } from "../settings.ts";

const PLAN_FILE = "docs/TASKS.md";

/** The plan that a repository without one gets: one task, in the shape that guardloop's own plan has. */
const EXAMPLE_PLAN = `# Task plan

Each task is a heading with an id, a \`Status:\` line, and what it should achieve. guardloop offers tasks whose status
is \`ready\` or \`planned\` and whose dependencies are \`done\`.

## T1 — Describe the project in the README

Status: ready

Objective:
A newcomer reads in README.md what this project is, how to install it and how to run its tests.

Dependencies:
- None

Completion signal:
- README.md has the sections "What it is", "Install" and "Tests".
`;

export function initCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "init",
    description: `Writes ${REPOSITORY_FILE} with every setting commented out, and ${PLAN_FILE} with one example task when no plan is found. Existing files are left as they are.`,
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop init"],
  });
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const { topLevel } = principal.value;
  const hasPlan = await planExists(context, principal.value);
  if (!hasPlan.ok) return hasPlan;
  const wanted: readonly (readonly [string, string])[] = [
    [REPOSITORY_FILE, initialToml()],
    ...(hasPlan.value ? [] : [[PLAN_FILE, EXAMPLE_PLAN] as const]),
  ];
  const written: string[] = [];
  for (const [name, text] of wanted)
    if (await writeNew(join(topLevel, name), text)) written.push(name);
  const commit =
    written.length === 0 ? null : await commitCommand(principal.value, context.cwd, written);
  if (call.format === "json") {
    context.output.json({ version: 1, written, commit });
    return ok(EXIT.done);
  }
  for (const name of written) context.output.result(green("Wrote "), name);
  if (commit === null) context.output.result("Everything is there already; nothing was written.");
  else {
    context.output.result("Runs start from a clean checkout. Commit what was written:");
    context.output.result("  ", bold(commit));
  }
  context.output.result(dim("Then: guardloop doctor, guardloop tasks, guardloop run"));
  return ok(EXIT.done);
}

/** Commits exactly these files, from the directory the person is in, also where they are ignored. */
async function commitCommand(
  { git, topLevel }: Principal,
  cwd: string,
  names: readonly string[],
): Promise<string> {
  const ignored = await git.exec(["check-ignore", "--", ...names]);
  const paths = names.map((name) => (cwd === topLevel ? name : `:/${name}`)).join(" ");
  const add = ignored.code === 0 ? "git add --force" : "git add";
  return `${add} ${paths} && git commit -m "Add guardloop" -- ${paths}`;
}

/** True when the last commit or the working tree has a plan where the settings look for one. */
async function planExists(
  context: Context,
  principal: Principal,
): Promise<Result<boolean, Failure>> {
  const head = await readHead(principal);
  if (!head.ok && head.error.code !== "no-commit") return head;
  const at = head.ok ? { principal, commit: head.value.commit } : undefined;
  const resolved = await settingsFor(context, at, {});
  if (!resolved.ok) return resolved;
  const matches = planPathMatches(resolved.value.settings.plan.globs);
  const listed = await gitOutput(
    principal.git,
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    { maxOutputBytes: 256 * 1024 * 1024 },
  );
  if (!listed.ok) return listed;
  return ok(
    listed.value
      .toString("utf8")
      .split("\0")
      .some((path) => matches(path)),
  );
}

async function writeNew(path: string, text: string): Promise<boolean> {
  if (await exists(path)) return false;
  await mkdir(dirname(path), { recursive: true });
  // `wx`: never over a file that came to be meanwhile.
  await writeFile(path, text, { flag: "wx" });
  return true;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
