import type { Command } from "commander";
import { EXIT, type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { patchMails } from "../../git/patch-mails.ts";
import type { Principal } from "../../git/principal.ts";
import type { Context } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import type { Output } from "../output/output.ts";
import { paged } from "../output/pager.ts";
import { refuseRemovedRecord } from "../output/record-removed.ts";
import { printDiff } from "../review/diff.ts";
import { printFiles } from "../review/files.ts";
import { printFindings } from "../review/findings.ts";
import { printJson } from "../review/json.ts";
import { type Material, gatherMaterial } from "../review/material.ts";
import { printNext, printSummary } from "../review/summary.ts";
import { withRun } from "../with-run.ts";

const PARTS = ["diff", "stat", "findings", "patch"] as const;
type Part = (typeof PARTS)[number];

export function reviewCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "review",
    description:
      "Shows the task, what the run was, commits, files, findings and the diff, all computed from the imported commits and not from what the container said. Control and bidi characters are visible, and attributes in the branch cannot hide a diff. On a terminal it goes through your pager, and a run that is ready can then be promoted or discarded, or left for later.",
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.refused, EXIT.resultRefused],
    examples: [
      "guardloop review @last",
      "guardloop review @last --stat",
      "guardloop review @last --patch | (cd ../other && git am --keep --keep-cr)",
    ],
  })
    .argument("<run>", "id, unique prefix, or @last")
    .option("--diff", "the diff alone")
    .option("--stat", "the files and their line counts alone, however many")
    .option("--findings", "the findings alone")
    .option(
      "--patch",
      "the commits alone, as mails for `git am --keep --keep-cr`: exact bytes, unless printed on a terminal",
    )
    .option("--no-pager", "print without a pager");
  return action(command, { context, finish }, perform);
}

async function perform(call: Call): Promise<CommandEnd> {
  const part = chosenPart(call);
  if (!part.ok) return part;
  let reviewed: Material | undefined;
  const shown = await withRun(call, async ({ run, principal }) => {
    if (!principal.ok) return principal;
    const there = refuseRemovedRecord(run);
    if (!there.ok) return there;
    const material = await gatherMaterial(run, {
      env: call.context.env,
      principal: principal.value,
    });
    if (!material.ok) return material;
    reviewed = material.value;
    return show(call, principal.value, { material: material.value, part: part.value });
  });
  if (!shown.ok || reviewed === undefined || !mayAsk(call, reviewed, part.value)) return shown;
  const { decideNow } = await import("../review/decide-now.ts");
  return decideNow(call, reviewed);
}

function chosenPart(call: Call): Result<Part | "whole", Failure> {
  const [first = "whole", second] = PARTS.filter((part) => call.options[part] === true);
  if (second === undefined) return ok(first);
  return fail("usage", `--${first} and --${second} each print one part.`, {
    cure: "Pass one of them, or neither for the whole review.",
  });
}

function mayAsk(call: Call, { run }: Material, part: Part | "whole"): boolean {
  const { interactive, output } = call.context;
  const withPerson = interactive && output.goesTo === "terminal" && call.format === "human";
  return withPerson && part === "whole" && run.state === "ready";
}

async function show(
  call: Call,
  principal: Principal,
  { material, part }: { readonly material: Material; readonly part: Part | "whole" },
): Promise<CommandEnd> {
  if (call.format === "json") {
    printJson(call.context.output, material);
    return ok(EXIT.done);
  }
  const print = await printerOf(part, material, principal);
  if (!print.ok) return print;
  const pager = call.options.pager === false ? "unwanted" : "wanted";
  await paged(call.context, { principal, pager }, (output) => {
    print.value(output);
    if (part !== "whole" || mayAsk(call, material, part)) return;
    output.result("");
    printNext(output, material);
  });
  return ok(EXIT.done);
}

async function printerOf(
  part: Part | "whole",
  material: Material,
  { git }: Principal,
): Promise<Result<(output: Output) => void, Failure>> {
  const { run, changes, findings, diff } = material;
  switch (part) {
    case "whole":
      return ok((output) => {
        printSummary(output, material);
        output.result("");
        printDiff(output, diff, changes);
      });
    case "diff":
      return ok((output) => printDiff(output, diff, changes));
    case "stat":
      return ok((output) => printFiles(output, changes, "every-file"));
    case "findings":
      return ok((output) => printFindings(output, findings));
    case "patch": {
      const mails = await patchMails(git, run.base, run.head);
      return mails.ok ? ok((output) => output.bytes(mails.value)) : mails;
    }
  }
}
