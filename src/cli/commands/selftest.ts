import { join } from "node:path";
import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Verdict } from "../../selftest/attack.ts";
import { LIST, type Listed } from "../../selftest/attacks.ts";
import { type Tried, selftest } from "../../selftest/selftest.ts";
import { type Context, gitProgram } from "../context.ts";
import {
  type Call,
  type CommandEnd,
  type Finish,
  action,
  define,
  gather,
  listOption,
} from "../define.ts";
import { engineOf } from "../engines.ts";
import { type Styled, bold, dim, green, red, yellow } from "../output/text.ts";
import { engineAndImage } from "../run-tools.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";
import { settingsHere } from "../settings.ts";

export function selftestCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "selftest",
    description:
      "Runs a list of attacks as scripted agents through the real flow: what a container may do, hostile artifacts, hostile commits, a booby-trapped repository. Needs no repository and touches none of yours: it works on one of its own below the state directory, and removes everything at the end. It takes about a minute.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.interrupted],
    examples: [
      "guardloop selftest",
      "guardloop selftest --list",
      "guardloop selftest --image node:22 --only network --only host-file",
    ],
  })
    .option("--list", "print the attacks and try none")
    .option("--only <NAME>", "try this attack; may be given several times", gather);
  addSettingOptions(command, (key) => /^(container|network)\./.test(key));
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const only = listOption(call, "only");
  const unknown = only.find((name) => LIST.every((listed) => listed.name !== name));
  if (unknown !== undefined)
    return fail("usage", `There is no attack named "${unknown}".`, {
      cure: "Type `guardloop selftest --list`.",
    });
  const wanted = LIST.filter(({ name }) => only.length === 0 || only.includes(name));
  return call.options["list"] === true ? list(call, wanted) : tryThem(call, new Set(only));
}

function list({ context: { output }, format }: Call, wanted: readonly Listed[]): CommandEnd {
  if (format === "json") {
    const attacks = wanted.map((one) => ({ ...one, verdict: null, seen: null }));
    output.json({ version: 1, engine: null, image: null, attacks, failure: null, exitStatus: 0 });
    return ok(EXIT.done);
  }
  output.table([
    [dim("ATTACK"), dim("BOUNDARY"), dim("THE AGENT …")],
    ...wanted.map(({ name, boundary, tries }) => [bold(name), boundary, tries]),
  ]);
  return ok(EXIT.done);
}

interface Report {
  readonly engine: { readonly kind: string; readonly version: string };
  readonly image: { readonly name: string; readonly id: string };
  readonly attacks: readonly Tried[];
}

async function tryThem(call: Call, only: ReadonlySet<string>): Promise<CommandEnd> {
  const report = await tried(call, only);
  if (!report.ok) return report;
  const { engine, image, attacks } = report.value;
  const failure = failureOf(report.value);
  if (call.format === "json") {
    const exitStatus = failure.ok ? EXIT.done : EXIT.failed;
    const code = failure.ok ? null : failure.error.code;
    const { output } = call.context;
    output.json({ version: 1, engine, image, attacks, failure: code, exitStatus });
    return ok(exitStatus);
  }
  summarise(call, report.value);
  return failure;
}

async function tried(call: Call, only: ReadonlySet<string>): Promise<Result<Report, Failure>> {
  const { context, format } = call;
  const git = gitProgram(context);
  if (!git.ok) return git;
  const resolved = await settingsHere(context, settingFlags(call));
  if (!resolved.ok) return resolved;
  const { settings } = resolved.value;
  for (const notice of resolved.value.notices) context.output.progress(yellow("note: "), notice);
  const tools = await engineAndImage(context, settings);
  if (!tools.ok) return tools;
  const { engine, facts, image } = tools.value;
  for (const notice of tools.value.notices) context.output.progress(yellow("note: "), notice);
  const attacks = await selftest({
    env: context.env,
    gitProgram: git.value,
    guestBundle: join(context.packageRoot, "dist/guest/guest.cjs"),
    probeBundle: join(context.packageRoot, "dist/selftest/probe.mjs"),
    engineWith: async (env) => {
      const runtime = settings.container.runtime ?? "";
      const other = await engineOf({ ...context, env }, facts.kind, runtime);
      return other.ok ? other.value : engine;
    },
    facts,
    image,
    settings,
    now: context.now,
    signal: context.interrupt,
    only,
    onTried: format === "json" ? () => undefined : printer(context),
  });
  if (!attacks.ok) return attacks;
  return ok({
    engine: { kind: facts.kind, version: facts.version },
    image: { name: settings.container.image, id: image.id },
    attacks: attacks.value,
  });
}

const MARKS: Readonly<Record<Verdict, Styled>> = {
  held: green("ok      "),
  failed: red("FAILED  "),
  skipped: yellow("skipped "),
};
const NAME_COLUMNS = Math.max(...LIST.map(({ name }) => name.length)) + 2;
const SEEN_CHARACTERS = 160;

/** A line for each attack as it ends, under a heading for each boundary. */
function printer({ output }: Context): (tried: Tried) => void {
  let boundary: string | undefined;
  return (one) => {
    if (one.boundary !== boundary) output.result(bold(one.boundary));
    ({ boundary } = one);
    output.result(MARKS[one.verdict], one.name.padEnd(NAME_COLUMNS), oneLine(one.seen));
    if (one.verdict === "failed") output.result(" ".repeat(8), dim(`The agent ${one.tries}.`));
  };
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= SEEN_CHARACTERS ? line : `${line.slice(0, SEEN_CHARACTERS)} …`;
}

function count({ attacks }: Report, verdict: Verdict): number {
  return attacks.filter((one) => one.verdict === verdict).length;
}

function where({ engine, image }: Report): string {
  return `${engine.kind} ${engine.version}, image ${image.name} (${image.id.slice(0, 19)})`;
}

function summarise({ context: { output } }: Call, report: Report): void {
  const skipped = count(report, "skipped");
  const tries = report.attacks.length - skipped;
  output.result("");
  output.result(bold(`${count(report, "held")} of ${tries} held on ${where(report)}.`));
  if (skipped > 0)
    output.result(
      yellow(`${skipped} could not be tried`),
      "; they are not counted, and say nothing about the boundary.",
    );
  output.result(
    dim(
      "This shows that a mistake stays inside. It does not show that an agent stays inside that attacks the container engine or the kernel: both are shared with this machine.",
    ),
  );
}

function failureOf(report: Report): CommandEnd {
  const names = report.attacks.filter((one) => one.verdict === "failed").map((one) => one.name);
  if (names.length === 0) return ok(EXIT.done);
  const what = names.length === 1 ? "1 attack" : `${names.length} attacks`;
  return fail(
    "selftest-failed",
    `The boundary did not hold against ${what} on ${where(report)}: ${names.join(", ")}.`,
  );
}
