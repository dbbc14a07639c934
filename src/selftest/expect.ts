import { type FailureCode, EXIT, exitStatusOf } from "../core/failures.ts";
import { listPaths } from "../git/read-files.ts";
import type { FindingCode } from "../policy/finding.ts";
import type { FinishedRun } from "../run/flow.ts";
import { lastLine, wasTried } from "./attacks/shell.ts";
import { type Attack, type Judgement, type Seen, failed, held } from "./attack.ts";

type Expectation = Attack["expect"];

/**
 * The result was refused with exit status 4 and one of these codes, the message names what was wrong, and no branch was
 * published.
 */
export function isRefused(codes: readonly FailureCode[], says: RegExp): Expectation {
  return async (seen) => {
    const { ended } = seen;
    if (!wasTried(seen.log)) return notTried(seen);
    if (ended.ok) return failed(`it was imported as ${ended.value.imported.branch}`);
    const { code, message } = ended.error;
    if (!codes.includes(code) || exitStatusOf(code) !== EXIT.resultRefused)
      return failed(`it ended with ${code}: ${message}`);
    if (!says.test(message)) return failed(`the message does not name it: ${message}`);
    return held(`refused: ${message}`);
  };
}

function notTried({ ended, log }: Seen): Judgement {
  const why = ended.ok ? lastLine(log) : ended.error.message;
  return failed(`the attack was not carried out to its end: ${why}`);
}

/** The work was imported, and `check` found nothing wrong with it; what `check` returns is what is wrong. */
export function isImported(
  check: (run: FinishedRun, seen: Seen) => Promise<string | undefined> | string | undefined,
  says: string,
): Expectation {
  return async (seen) => {
    const { ended } = seen;
    if (!wasTried(seen.log)) return notTried(seen);
    if (!ended.ok) return failed(`it ended with ${ended.error.code}: ${ended.error.message}`);
    const wrong = await check(ended.value, seen);
    return wrong === undefined ? held(says) : failed(wrong);
  };
}

/** The work was imported, and a reviewer sees this finding. */
export function isFound(code: FindingCode, severity: "warn" | "block"): Expectation {
  return isImported(
    ({ reviewed }) => {
      const found = reviewed?.findings ?? [];
      const one = found.find((finding) => finding.code === code);
      if (one === undefined) return `the review does not have the finding ${code}`;
      return severity === "block" && one.severity !== "block"
        ? `the finding ${code} does not block`
        : undefined;
    },
    severity === "block" ? `${code} blocks the promotion` : `the review says ${code}`,
  );
}

/** Either of two good ends; what is seen is the first that holds. */
export function either(one: Expectation, other: Expectation): Expectation {
  return async (seen) => {
    const first = await one(seen);
    if (first.verdict !== "failed") return first;
    const second = await other(seen);
    return second.verdict === "failed" ? first : second;
  };
}

/** Paths of the imported tree; a name that is not UTF-8 comes with replacement characters. */
export async function importedPaths(
  { imported }: FinishedRun,
  { git }: Seen,
): Promise<readonly string[]> {
  const paths = await listPaths(git, imported.head);
  return paths.ok ? paths.value : [];
}

/** A file of the imported tree as text, one character a byte; undefined when there is none. */
export async function importedFile(
  { imported }: FinishedRun,
  { git }: Seen,
  path: string,
): Promise<string | undefined> {
  const blob = await git.exec(["cat-file", "blob", `${imported.head}:${path}`]);
  return blob.code === 0 ? blob.stdout.toString("latin1") : undefined;
}
