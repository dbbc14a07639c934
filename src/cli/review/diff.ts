import { visible } from "../../core/visible.ts";
import type { MeasuredEntry } from "../../git/change-facts.ts";
import { size } from "../output/duration.ts";
import type { Output } from "../output/output.ts";
import { bold, cyan, dim, green, red, yellow } from "../output/text.ts";
import { type DiffSection, diffSections, isReadable } from "./diff-sections.ts";

const KINDS: Readonly<Record<string, string>> = {
  "100644": "regular file",
  "100755": "executable file",
  "120000": "symbolic link",
  "160000": "submodule",
};

/** The diff with its heads coloured, modes in words, and a line in place of content that is no text. */
export function printDiff(
  output: Output,
  diff: string,
  changes: readonly Pick<MeasuredEntry, "status" | "sizeBytes">[],
): void {
  const sections = diffSections(diff);
  // A change of kind is two sections, a deletion and a creation; everything else is one, in the same order.
  const entries = changes.flatMap((change) => (change.status === "T" ? [change, change] : change));
  for (const [index, section] of sections.entries()) {
    printHeader(output, section);
    if (isReadable(section)) printBody(output, section);
    else {
      const isGone = section.header.some((line) => line.startsWith("deleted file mode "));
      const bytes = entries[index]?.sizeBytes;
      const now = isGone || bytes === undefined ? "" : `, now ${size(bytes)}`;
      output.result(yellow(`binary content${now}: not shown; --patch has it`));
    }
  }
}

function printHeader(output: Output, section: DiffSection): void {
  for (const line of section.header) {
    const words = modeInWords(line, section);
    if (words !== undefined) output.result(yellow(words));
    else if (line.startsWith("index ")) {
      output.result(dim(line));
      if (line.endsWith(" 120000"))
        output.result(yellow(`symbolic link, now to ${linkTarget(section, "+")}`));
    } else output.result(bold(line));
  }
}

/** `old mode 100644` and the like. A link's target is its content, and the one thing to know about it. */
function modeInWords(line: string, section: DiffSection): string | undefined {
  const match = /^(old mode|new mode|new file mode|deleted file mode) (\d{6})$/.exec(line);
  if (match === null) return undefined;
  const [, what = "", mode = ""] = match;
  const kind = KINDS[mode] ?? `mode ${mode}`;
  const words = { "old mode": "was: ", "new mode": "is now: ", "new file mode": "new " }[what];
  const link =
    mode === "120000"
      ? ` to ${linkTarget(section, /^(?:old|deleted)/.test(what) ? "-" : "+")}`
      : "";
  return `${words ?? "deleted "}${kind}${link}`;
}

function linkTarget({ body }: DiffSection, side: "-" | "+"): string {
  const lines = body.filter((line) => line.startsWith(side));
  return visible(lines.map((line) => line.slice(1)).join("\n"), "one-line");
}

function printBody(output: Output, { body }: DiffSection): void {
  for (const line of body) {
    if (line.startsWith("+")) output.result(green(line));
    else if (line.startsWith("-")) output.result(red(line));
    else if (line.startsWith("@@")) output.result(cyan(line));
    else output.result(line);
  }
}
