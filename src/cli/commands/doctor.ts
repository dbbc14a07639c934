import type { Command } from "commander";
import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { allChecks } from "../doctor/all.ts";
import type { Check } from "../doctor/check.ts";
import { count } from "../output/count.ts";
import { green, red, yellow } from "../output/text.ts";
import { addSettingOptions } from "../setting-options.ts";

export function doctorCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "doctor",
    description:
      "Checks tools, engine, image, the agents that are configured, repository, plan, free space, lease pool, state and clocks; takes the settings of `run`. Changes nothing by itself. With network gateway it also looks for the credential, and asks the model API for its list of models with it; nothing else is sent anywhere. --fix does what is safe: ends runs whose process is dead, returns their leases, removes containers, locks and leftovers that nobody owns, puts the pool in order, closes the state directory to others, keeps a damaged history aside. It then checks again.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop doctor",
      "guardloop doctor --agent codex --network gateway",
      "guardloop doctor --fix",
      "guardloop doctor --json",
    ],
  }).option("--fix", "mend what can be mended without losing anything");
  addSettingOptions(command);
  return action(command, { context, finish }, perform);
}

/** What `--fix` did. */
interface Fixed {
  readonly done: readonly string[];
  readonly failed: readonly string[];
  /** As they are afterwards. */
  readonly checks: readonly Check[];
}

async function perform(call: Call): Promise<CommandEnd> {
  const found = await allChecks(call);
  const fixed = call.options.fix === true ? await fixAll(call, found) : undefined;
  const checks = fixed?.checks ?? found;
  const status = checks.some((check) => check.verdict === "problem") ? EXIT.refused : EXIT.done;
  const { output } = call.context;
  if (call.format === "json") {
    const { done = [], failed = [] } = fixed ?? {};
    output.json({
      version: 1,
      checks: checks.map(({ mend, ...check }) => ({ ...check, fix: mend?.will ?? null })),
      fixed: done,
      notFixed: failed,
      exitStatus: status,
    });
    return ok(status);
  }
  printFixed(call, fixed);
  for (const check of checks) printCheck(call, check);
  if (fixed === undefined) printFixable(call, checks);
  output.result(
    status === EXIT.done ? green("Ready to run.") : red("Not ready: mend the problems above."),
  );
  return ok(status);
}

function printFixable({ context: { output } }: Call, checks: readonly Check[]): void {
  const fixable = checks.filter(({ mend }) => mend !== undefined).length;
  if (fixable === 0) return;
  output.result(`${count(fixable, "thing")} can be mended with: guardloop doctor --fix`);
}

/** What one thing that was mended leaves, such as the lock of a run that is recovered now, is mended in a second round. */
async function fixAll(call: Call, found: readonly Check[]): Promise<Fixed> {
  const first = await fix(found);
  const after = await allChecks(call);
  const known = new Set(found.map(({ text }) => text));
  const fresh = after.filter(({ text, mend }) => mend !== undefined && !known.has(text));
  if (fresh.length === 0) return { ...first, checks: after };
  const second = await fix(fresh);
  return {
    done: [...first.done, ...second.done],
    failed: [...first.failed, ...second.failed],
    checks: await allChecks(call),
  };
}

/** One after another, and each only once, however many checks it mends. */
async function fix(checks: readonly Check[]): Promise<Omit<Fixed, "checks">> {
  const done: string[] = [];
  const failed: string[] = [];
  for (const mend of new Set(checks.map((check) => check.mend))) {
    const ended = await mend?.act();
    if (ended?.ok === true) done.push(...ended.value);
    if (ended?.ok === false) failed.push(ended.error.message);
  }
  return { done, failed };
}

function printFixed({ context: { output } }: Call, fixed: Fixed | undefined): void {
  if (fixed === undefined) return;
  for (const line of fixed.done) output.result(green("mended   "), line);
  for (const line of fixed.failed) output.result(yellow("not done "), line);
  if (fixed.done.length + fixed.failed.length === 0)
    output.result("There was nothing that --fix could mend.");
  output.result("");
}

function printCheck({ context: { output } }: Call, check: Check): void {
  const marks = { ok: green("ok      "), warning: yellow("warning "), problem: red("problem ") };
  output.result(marks[check.verdict], check.name.padEnd(11), check.text);
  const below = (text: string): void => output.result("        ", " ".repeat(11), text);
  if (check.mend !== undefined) below(`--fix would ${check.mend.will}.`);
  if (check.cure !== null) below(check.cure);
}
