import { type Failure, fail } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { TreehouseCaller } from "./caller.ts";
import { complaint } from "./complaint.ts";

export interface TreehouseVersion {
  /** As the program prints it, for example `v2.3.0`. */
  readonly text: string;
  /** 2 and 3 are two dialects, and mixing them on one pool damages it. */
  readonly major: 2 | 3;
}

const CURE = "Install treehouse 2.2 or newer but below 4, or pass --lease builtin.";

/**
 * Asks the program for its version. Its help text proves nothing: `--lease` is older than the JSON output we need,
 * and another program is installed under the same name.
 */
export async function probeVersion(
  caller: TreehouseCaller,
): Promise<Result<TreehouseVersion, Failure>> {
  const exit = await caller.call(["--version"]);
  if (!exit.ok) return exit;
  if (exit.value.code === 0) return judgeVersion(exit.value.stdout.toString("utf8"));
  const why = complaint(exit.value, "--version");
  return fail("tool-unsupported", `treehouse on PATH does not tell its version: ${why.sentence}`, {
    cure: CURE,
    details: why.lines,
  });
}

/** Supported is 2.2.0 up to, but not including, 4. */
export function judgeVersion(printed: string): Result<TreehouseVersion, Failure> {
  const found = /(?:^|[\s=:])(v?(\d{1,6})\.(\d{1,6})\.\d{1,6}\S*)/.exec(printed);
  const text = found?.[1];
  if (found === null || text === undefined) return unsupported(nameless(printed));
  const major = Number(found[2]);
  const minor = Number(found[3]);
  if (major < 1)
    return unsupported(`treehouse ${text} on PATH is not supported: it is another program`);
  if (major < 2 || (major === 2 && minor < 2))
    return unsupported(`treehouse ${text} on PATH is not supported: it is older than 2.2`);
  if (major === 2 || major === 3) return ok({ text, major });
  return unsupported(`treehouse ${text} on PATH is not supported`);
}

function nameless(printed: string): string {
  return /\bdev\b/.test(printed)
    ? "treehouse on PATH is a development build without a version"
    : "treehouse on PATH printed no version";
}

function unsupported(message: string): Result<never, Failure> {
  const details: readonly string[] = [];
  return err({ code: "tool-unsupported", message, cure: CURE, details });
}
