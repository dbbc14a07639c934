import { EXIT } from "../../core/failures.ts";
import { ok } from "../../core/result.ts";
import { type Finding, blocks } from "../../policy/finding.ts";
import { isOfValidation } from "../../run/decide/accepts.ts";
import { performDiscard } from "../commands/decisions.ts";
import { performPromote } from "../commands/promote.ts";
import type { Call, CommandEnd } from "../define.ts";
import { count } from "../output/count.ts";
import { printFinding } from "./findings.ts";
import type { Material } from "./material.ts";
import { type Questions, terminalQuestions } from "./questions.ts";
import { printNext, printRecap } from "./summary.ts";

/** The options of `promote` that a person gave by answering. */
interface Answers {
  readonly accept: readonly string[];
  readonly why?: string;
  readonly withoutValidation?: string;
}

/**
 * Asks what to do with a run that was just shown, and does it by the same functions, with the same checks and the same
 * words, as `promote` and `discard`. Ctrl-C at any question means later: nothing has changed.
 */
export async function decideNow(call: Call, material: Material): Promise<CommandEnd> {
  const questions = terminalQuestions(call.context.interrupt);
  const moved = material.findings.some((one) => one.code === "stale-base");
  const unvalidated = material.validation === "failed" || material.validation === "missing";
  printRecap(call.context.output, material);
  const choice = await questions.choose(
    "What now?",
    {
      promote: `promote${moved ? " with --rebase" : ""}${unvalidated ? " without validation, with a reason" : ""}`,
      discard: "discard",
      later: "later",
    },
    "later",
  );
  // The run that was shown, even where another one is the last by now.
  const onThisRun = { ...call, args: [material.run.id] };
  if (choice === "discard") return performDiscard({ ...onThisRun, options: {} });
  if (choice !== "promote") return later(call, material, "Nothing was decided.");
  const answers = await askForPromotion(call, material, questions);
  if (typeof answers === "string") return later(call, material, answers);
  return performPromote({ ...onThisRun, options: { ...answers, rebase: moved } });
}

const NOTHING_PROMOTED = "Nothing was promoted.";

/** @returns what a promotion needs to know, or a sentence that says why there will be none. */
async function askForPromotion(
  call: Call,
  { findings, validation }: Material,
  questions: Questions,
): Promise<Answers | string> {
  // Where the commits are rebased, the base is not stale any more.
  const toAccept = blocks(findings).filter(
    (one) => !isOfValidation(one.code) && one.code !== "stale-base",
  );
  const accepted = await askForAcceptance(call, toAccept, questions);
  if (typeof accepted === "string") return accepted;
  if (validation !== "failed" && validation !== "missing") return accepted;
  const withoutValidation = await questions.tell(
    validation === "failed"
      ? "The validation failed. Why land it all the same?"
      : "This tree has not been validated. Why land it all the same?",
  );
  return withoutValidation === undefined ? NOTHING_PROMOTED : { ...accepted, withoutValidation };
}

/** Each blocking finding by itself; the first that is not accepted ends it. Then one reason for all. */
async function askForAcceptance(
  call: Call,
  blocking: readonly Finding[],
  questions: Questions,
): Promise<Answers | string> {
  if (blocking.length === 0) return { accept: [] };
  const { output } = call.context;
  output.result(`${count(blocking.length, "blocking finding")}, to be accepted one by one:`);
  for (const one of blocking) {
    printFinding(output, one);
    const accepted = await questions.agree(`Accept ${one.code}?`);
    if (accepted === undefined) return NOTHING_PROMOTED;
    if (!accepted) return `${NOTHING_PROMOTED} You did not accept ${one.code}.`;
  }
  const why = await questions.tell("Why is that all right? It is kept in the record.");
  return why === undefined ? NOTHING_PROMOTED : { accept: blocking.flatMap(acceptanceOf), why };
}

/** By its paths where all of them were shown, so that exactly this is accepted; else by its code. */
function acceptanceOf(one: Finding): readonly string[] {
  if (one.paths.length === 0 || one.morePaths > 0) return [one.code];
  return one.paths.map((path) => `${one.code}:${path}`);
}

function later(call: Call, material: Material, sentence: string): CommandEnd {
  const { output } = call.context;
  output.result(`${sentence} The run stays ready; when you know:`);
  printNext(output, material);
  return ok(EXIT.done);
}
