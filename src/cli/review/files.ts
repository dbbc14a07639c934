import { visible } from "../../core/visible.ts";
import type { MeasuredEntry } from "../../git/change-facts.ts";
import { count } from "../output/count.ts";
import { size } from "../output/duration.ts";
import type { Output } from "../output/output.ts";
import { type Segment, bold, dim, green, red, yellow } from "../output/text.ts";

/** Longer lists are summed up by directory, unless every file was asked for. */
const LISTED_FILES = 40;

/** The changed files with their line counts, below a line with the sums. */
export function printFiles(
  output: Output,
  changes: readonly MeasuredEntry[],
  detail: "every-file" | "at-a-glance",
): void {
  output.result(bold(count(changes.length, "file")), "  ", ...lines(changes));
  if (detail === "every-file" || changes.length <= LISTED_FILES) {
    for (const change of changes)
      output.result("  ", change.status, " ", oneLine(change.path), "  ", ...counts(change));
    return;
  }
  output.table(
    [...byDirectory(changes)].map(([directory, inside]) => [
      `  ${oneLine(directory)}`,
      count(inside.length, "file"),
      { style: "dim" as const, text: lines(inside).map(textOf).join("") },
    ]),
  );
  output.result(dim("  Every file: --stat"));
}

/** A name with a line feed in it must not look like two. */
function oneLine(text: string): string {
  return visible(text, "one-line");
}

function counts(change: MeasuredEntry): readonly Segment[] {
  if (change.content === "binary")
    return [yellow(change.status === "D" ? "binary" : `binary, ${size(change.sizeBytes)}`)];
  const target = change.linkTarget === null ? "" : ` -> ${oneLine(change.linkTarget)}`;
  return [...lines([change]), target];
}

function lines(changes: readonly MeasuredEntry[]): readonly Segment[] {
  const sum = (key: "addedLines" | "deletedLines"): number =>
    changes.reduce((all, change) => all + change[key], 0);
  return [green(`+${sum("addedLines")}`), " ", red(`-${sum("deletedLines")}`)];
}

function textOf(segment: Segment): string {
  return typeof segment === "string" ? segment : segment.text;
}

/** Groups by directory, as deep as gives no more lines than a list of files may have. */
function byDirectory(
  changes: readonly MeasuredEntry[],
): ReadonlyMap<string, readonly MeasuredEntry[]> {
  const deepest = Math.max(1, ...changes.map(({ path }) => path.split("/").length - 1));
  for (let depth = deepest; depth > 1; depth -= 1) {
    const groups = groupAt(changes, depth);
    if (groups.size <= LISTED_FILES) return groups;
  }
  return groupAt(changes, 1);
}

function groupAt(changes: readonly MeasuredEntry[], depth: number) {
  const groups = new Map<string, MeasuredEntry[]>();
  for (const change of changes) {
    const parts = change.path.split("/").slice(0, -1).slice(0, depth);
    const directory = parts.length === 0 ? "./" : `${parts.join("/")}/`;
    groups.set(directory, [...(groups.get(directory) ?? []), change]);
  }
  return groups;
}
