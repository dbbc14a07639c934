import { visible } from "../../core/visible.ts";
import type { MeasuredSize } from "../../files/measured-size.ts";
import type { Cleaning } from "../../run/house/clean.ts";
import { type HouseItem, type Survey, type Thing, HOUSE_KINDS } from "../../run/house/item.ts";
import { count } from "../output/count.ts";
import { size } from "../output/duration.ts";
import type { Output } from "../output/output.ts";
import { bold, dim, green, yellow } from "../output/text.ts";

export interface Housekeeping {
  readonly mode: "dry-run" | "remove";
  readonly survey: Survey;
  /** In a dry run, what would be removed. */
  readonly cleaning: Cleaning;
  /** What to type to have it done. */
  readonly command: string;
}

export function printHouse(
  output: Output,
  { survey, cleaning, mode, command }: Housekeeping,
): void {
  const { removed, spared, problems, left } = cleaning;
  for (const kind of HOUSE_KINDS)
    for (const item of removed.filter((one) => one.kind === kind)) printItem(output, item, mode);
  for (const { kind, what } of spared)
    output.result(yellow("In use by now: "), `${kind} ${visible(what, "one-line")}`);
  for (const thing of survey.kept) printKept(output, thing);
  for (const problem of [...survey.problems, ...problems])
    output.result(yellow("Not done: "), visible(problem, "one-line"));
  output.result(sumUp(removed, mode));
  if (left > 0) output.result(`${count(left, "thing")} left for the next time.`);
  if (mode === "dry-run" && removed.length > 0)
    output.result(`Nothing was changed. To do it: ${command}`);
}

function printItem(output: Output, item: HouseItem, mode: Housekeeping["mode"]): void {
  const verb = mode === "remove" ? green("Removed      ") : "Would remove ";
  const room = item.size === null ? "" : `  ${sizeText(item.size)}`;
  const what = `${item.kind} ${visible(item.what, "one-line")}`;
  output.result(verb, bold(what), dim(room), `: ${visible(item.why, "one-line")}`);
}

function printKept(output: Output, thing: Thing): void {
  const what = `${thing.kind} ${visible(thing.what, "one-line")}`;
  output.result(yellow("Stays        "), what, `: ${visible(thing.why, "one-line")}`);
}

function sumUp(items: readonly HouseItem[], mode: Housekeeping["mode"]): string {
  if (items.length === 0)
    return mode === "remove" ? "Nothing was removed." : "There is nothing to remove.";
  const total = {
    bytes: items.reduce((sum, one) => sum + (one.size?.bytes ?? 0), 0),
    extent: items.some((one) => one.size?.extent === "at-least")
      ? ("at-least" as const)
      : ("whole" as const),
  };
  const verb = mode === "remove" ? "removed" : "may go";
  return `${count(items.length, "thing")} ${verb}, ${sizeText(total)}.`;
}

function sizeText({ bytes, extent }: MeasuredSize): string {
  return extent === "whole" ? size(bytes) : `at least ${size(bytes)}`;
}

/** The documented shape; see docs/json.md. */
export function printHouseJson(output: Output, { mode, survey, cleaning }: Housekeeping): void {
  const { removed, spared, problems, left } = cleaning;
  output.json({
    version: 1,
    mode,
    items: removed.map((item) => ({
      ...thingJson(item),
      sizeBytes: item.size?.bytes ?? null,
      sizeIs: item.size?.extent ?? null,
      automatic: item.when === "any-time",
    })),
    spared: spared.map(({ kind, what }) => `${kind} ${what}`),
    kept: survey.kept.map(thingJson),
    problems: [...survey.problems, ...problems],
    left,
  });
}

function thingJson({ kind, what, run, repository, why }: Thing) {
  return { kind, what, run, repository, why };
}
