import type { Command } from "commander";
import type { Settings } from "../../config/settings.ts";
import { EXIT, type Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { gitText, userGit } from "../../git/git.ts";
import { judgeGitVersion } from "../../git/version.ts";
import type { Principal } from "../../git/principal.ts";
import { mayBeAlive } from "../../process/owner.ts";
import { offerTasks } from "../../run/choice/offer.ts";
import { checkPrincipal } from "../../run/choice/prepare.ts";
import { readPlan } from "../../run/choice/plan.ts";
import { type Context, gitProgram, historyOf, principalOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { size } from "../output/duration.ts";
import { engineText, shortId } from "../output/engine.ts";
import { green, red, yellow } from "../output/text.ts";
import { engineAndImage, poolFor } from "../prepare-run.ts";
import { settingsHere } from "../settings.ts";

export function doctorCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "doctor",
    summary: "check everything that a run needs, and say how to mend it",
    description:
      "Checks tools, engine, image, repository, plan, lease pool and state. Changes nothing.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: ["guardloop doctor", "guardloop doctor --json"],
  });
  return action(command, { context, finish }, perform);
}

interface Check {
  readonly name: string;
  readonly verdict: "ok" | "warning" | "problem";
  readonly text: string;
  readonly cure: string | null;
}

async function perform(call: Call): Promise<CommandEnd> {
  const { context } = call;
  const checks = await allChecks(context);
  const status = checks.some((check) => check.verdict === "problem") ? EXIT.refused : EXIT.done;
  if (call.format === "json") {
    context.output.json({ version: 1, checks, exitStatus: status });
    return ok(status);
  }
  const marks = { ok: green("ok      "), warning: yellow("warning "), problem: red("problem ") };
  for (const check of checks) {
    context.output.result(marks[check.verdict], check.name.padEnd(11), check.text);
    if (check.cure !== null) context.output.result("        ", " ".repeat(11), check.cure);
  }
  context.output.result(
    status === EXIT.done ? green("Ready to run.") : red("Not ready: mend the problems above."),
  );
  return ok(status);
}

async function allChecks(context: Context): Promise<readonly Check[]> {
  const principal = await principalOf(context);
  const resolved = await settingsHere(context, {});
  const checks: Check[] = [nodeCheck(), await gitCheck(context)];
  if (!resolved.ok) return [...checks, problem("settings", resolved.error)];
  const { settings, notices } = resolved.value;
  checks.push(good("settings", "understood"));
  for (const text of notices)
    checks.push({ name: "settings", verdict: "warning", text, cure: null });
  checks.push(agentCheck(settings));
  checks.push(...(await engineChecks(context, settings)));
  if (!principal.ok) checks.push(problem("repository", principal.error));
  else checks.push(...(await repositoryChecks(context, principal.value, settings)));
  checks.push(...(await stateChecks(context)));
  return checks;
}

function good(name: string, text: string): Check {
  return { name, verdict: "ok", text, cure: null };
}

function problem(name: string, failure: Failure): Check {
  const details =
    failure.details.length === 0 ? "" : ` (${failure.details.slice(0, 3).join("; ")})`;
  return { name, verdict: "problem", text: `${failure.message}${details}`, cure: failure.cure };
}

/** A check that a Result already made. */
function verdictOf<T>(name: string, result: Result<T, Failure>, say: (value: T) => string): Check {
  return result.ok ? good(name, say(result.value)) : problem(name, result.error);
}

function nodeCheck(): Check {
  return good("node", process.versions.node);
}

async function gitCheck(context: Context): Promise<Check> {
  const program = gitProgram(context);
  if (!program.ok) return problem("git", program.error);
  const version = await gitText(userGit(program.value, context.env, "/"), ["version"]);
  if (!version.ok) return problem("git", version.error);
  return { name: "git", ...judgeGitVersion(version.value) };
}

function agentCheck(settings: Settings): Check {
  const { names } = settings.agent;
  if (names.length > 0)
    return good("agent", `${names.join(", ")}, network ${settings.network.mode}`);
  return {
    name: "agent",
    verdict: "warning",
    text: "none is configured",
    cure: "Pass --agent to `guardloop run`, or set agent.name in guardloop.toml: codex, claude or command.",
  };
}

async function engineChecks(context: Context, settings: Settings): Promise<readonly Check[]> {
  const tools = await engineAndImage(context, settings);
  const { image } = settings.container;
  if (!tools.ok)
    return [problem(tools.error.code.startsWith("image") ? "image" : "engine", tools.error)];
  const { facts } = tools.value;
  return [
    good("engine", `${engineText(facts)}, ${facts.cpus} CPUs, ${size(facts.memoryBytes)}`),
    ...tools.value.notices.map((text): Check => ({
      name: "engine",
      verdict: "warning",
      text,
      cure: null,
    })),
    good("image", `${image} (${shortId(tools.value.image.id)})`),
  ];
}

async function repositoryChecks(
  context: Context,
  principal: Principal,
  settings: Settings,
): Promise<readonly Check[]> {
  const head = await checkPrincipal(principal);
  const checks = [
    verdictOf("repository", head, (value) => `${principal.topLevel}, on ${value.branch}, clean`),
  ];
  if (head.ok) {
    const plan = await readPlan(principal.git, head.value.commit, settings.plan);
    const offered = plan.ok ? offerTasks(plan.value) : plan;
    checks.push(
      verdictOf(
        "plan",
        offered,
        (tasks) =>
          `${tasks.length} runnable: ${tasks
            .slice(0, 5)
            .map((task) => task.id)
            .join(", ")}`,
      ),
    );
  }
  const pool = await poolFor(context, principal, settings.lease.kind);
  checks.push(verdictOf("leases", pool, (value) => value.description));
  const wrong = pool.ok ? await pool.value.inspect() : undefined;
  if (wrong?.ok === false) checks.push(problem("leases", wrong.error));
  for (const text of wrong?.ok === true ? wrong.value : [])
    checks.push({ name: "leases", verdict: "warning", text, cure: null });
  return checks;
}

async function stateChecks(context: Context): Promise<readonly Check[]> {
  const opened = await historyOf(context);
  if (!opened.ok) return [problem("state", opened.error)];
  using history = opened.value;
  const runs = history.runs();
  const checks = [good("state", `${context.env.stateDir}, ${runs.length} runs`)];
  for (const run of runs) {
    if (run.state === "running" && !mayBeAlive(run.owner, context.env.hostname))
      checks.push({
        name: "state",
        verdict: "warning",
        text: `The process of run ${run.id} is gone.`,
        cure: `Run \`guardloop recover\` in ${run.topLevel}.`,
      });
    if (run.keptSnapshot !== null)
      checks.push({
        name: "state",
        verdict: "warning",
        text: `The snapshot of run ${run.id} is kept (${size(run.keptSnapshot.sizeBytes)}) at ${run.keptSnapshot.path}.`,
        cure: `It holds work that could not be exported; kept until ${run.keptSnapshot.until.slice(0, 10)}.`,
      });
  }
  return checks;
}
