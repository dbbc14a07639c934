import { visible } from "../core/visible.ts";
import type { ReviewFacts } from "./facts.ts";
import { messageFindings } from "./commit-messages.ts";
import { weightiestFirst } from "./apply-policy.ts";
import { type Finding, finding } from "./finding.ts";
import { leadsOut } from "./escaping-links.ts";
import { generatedFindings, isOpaque } from "./generated.ts";
import { hiddenCharacterFindings } from "./hidden-characters.ts";
import { mixedScriptFindings } from "./mixed-scripts.ts";
import { junkFindings } from "./junk.ts";
import { packageFindings } from "./package-keys.ts";
import { protectedFindings } from "./protected-findings.ts";
import { setupFindings } from "./setup-findings.ts";
import { secretFindings } from "./secret-findings.ts";
import { disabledCheckFindings } from "./disabled-checks.ts";
import { testFindings } from "./weakened-tests.ts";

const LARGE_FILE_BYTES = 1024 * 1024;
const LARGE_CHANGE_FILES = 200;
const LARGE_CHANGE_LINES = 5_000;
const SYMLINK = "120000";

/** Facts in, findings out, the weightiest first. Pure. */
export function findingsOf(facts: ReviewFacts): readonly Finding[] {
  const found = [
    ...controlFindings(facts),
    ...protectedFindings(facts),
    ...setupFindings(facts),
    ...symlinkFindings(facts),
    ...contentFindings(facts),
    ...secretFindings(facts),
    ...hiddenCharacterFindings(facts.addedLines),
    ...mixedScriptFindings(facts.addedLines),
    ...disabledCheckFindings(facts),
    ...generatedFindings(facts.changes, facts.addedLines),
    ...junkFindings(facts.changes),
    ...testFindings(facts.changes, facts.addedLines),
    ...packageFindings(facts.packageFiles),
    ...nameFindings(facts),
    ...planFindings(facts),
    ...runFindings(facts),
    ...metadataFindings(facts),
  ];
  return weightiestFirst(found);
}

function controlFindings(facts: ReviewFacts): readonly Finding[] {
  const paths = facts.changes
    .map((change) => change.path)
    .filter((path) => facts.controlPaths.some((control) => sameName(control, path)));
  return paths.length === 0
    ? []
    : [
        finding(
          "control-file",
          "These files decide how guardloop itself behaves on this repository.",
          paths,
        ),
      ];
}

function sameName(a: string, b: string): boolean {
  return a.normalize("NFC").toLowerCase() === b.normalize("NFC").toLowerCase();
}

function symlinkFindings({ changes, links }: ReviewFacts): readonly Finding[] {
  const changed = changes.filter((change) => change.newMode === SYMLINK);
  const judged = changed.map((link) => ({ path: link.path, target: link.linkTarget ?? "" }));
  const escaping = judged.filter((link) => leadsOut(link, links));
  const others = judged.filter((link) => !leadsOut(link, links));
  return [
    ...list(
      "symlink-escaping",
      "These links point out of the tree or into .git.",
      [...escaping, ...ledOut(judged, links)].map(withTarget),
    ),
    ...list("symlink", "New or changed symbolic links.", others.map(withTarget)),
  ];
}

/** Links that did not change, and lead out through one that did. */
function ledOut(
  changed: readonly { readonly path: string }[],
  links: ReadonlyMap<string, string>,
): readonly { readonly path: string; readonly target: string }[] {
  const paths = new Set(changed.map(({ path }) => path));
  const kept = new Map([...links].filter(([path]) => !paths.has(path)));
  return [...kept]
    .map(([path, target]) => ({ path, target }))
    .filter((link) => leadsOut(link, links) && !leadsOut(link, kept));
}

function withTarget({ path, target }: { readonly path: string; readonly target: string }): string {
  return `${path} -> ${target}`;
}

function contentFindings(facts: ReviewFacts): readonly Finding[] {
  const { changes } = facts;
  const modes = changes.filter(
    (change) => change.newMode === "100755" && change.oldMode !== "100755",
  );
  const binaries = changes.filter(
    (change) => change.kind !== "deleted" && (change.content === "binary" || isOpaque(change.path)),
  );
  const large = changes.filter((change) => change.sizeBytes > LARGE_FILE_BYTES);
  const lines = changes.reduce((sum, change) => sum + change.addedLines + change.deletedLines, 0);
  return [
    ...list(
      "mode-changed",
      "These files became executable.",
      modes.map((change) => change.path),
    ),
    ...list(
      "binary",
      "Binary content cannot be read in a diff.",
      binaries.map((change) => change.path),
    ),
    ...list(
      "large-file",
      "Files over 1 MiB stay in the repository's history for good.",
      large.map((change) => change.path),
    ),
    ...(changes.length > LARGE_CHANGE_FILES || lines > LARGE_CHANGE_LINES
      ? [
          finding(
            "large-change",
            `${changes.length} files and ${lines} lines changed: more than one task should need.`,
          ),
        ]
      : []),
    ...(changes.length === 0 ? [finding("no-change", "The branch changes nothing.")] : []),
  ];
}

function nameFindings(facts: ReviewFacts): readonly Finding[] {
  const odd = facts.changes
    .filter((change) => change.kind !== "deleted")
    .filter((change) => change.utf8 === "invalid" || isOdd(change.path))
    .map((change) => change.path);
  return [
    ...list("odd-name", "These names mislead or break on other systems.", odd),
    ...list(
      "case-collision",
      "These names are one name on file systems that fold case or Unicode forms.",
      facts.collisions,
    ),
  ];
}

function isOdd(path: string): boolean {
  if (visible(path, "one-line") !== path) return true;
  return path
    .split("/")
    .some(
      (part) =>
        /[\\:<>"|?*]/.test(part) ||
        /[. ]$/.test(part) ||
        part.startsWith("-") ||
        /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(part) ||
        Buffer.byteLength(part) > 200,
    );
}

function planFindings(facts: ReviewFacts): readonly Finding[] {
  const found: Finding[] = [];
  if (facts.task.atTip === "runnable")
    found.push(
      finding(
        "plan-not-updated",
        `The plan still offers ${facts.task.id}: the agent did not mark it.`,
        [facts.task.file],
      ),
    );
  if (facts.task.atTip === "missing")
    found.push(
      finding("plan-changed-elsewhere", `${facts.task.id} is gone from the plan.`, [
        facts.task.file,
      ]),
    );
  if (facts.otherTasksChanged.length > 0)
    found.push(
      finding(
        "plan-changed-elsewhere",
        `The status of other tasks changed: ${facts.otherTasksChanged.slice(0, 10).join(", ")}.`,
      ),
    );
  return found;
}

const SHOWN_REFUSALS = 3;

function refusedSentence(refused: ReviewFacts["egressRefused"]): string {
  const count = refused.reduce((sum, one) => sum + one.count, 0);
  const shown = refused.slice(0, SHOWN_REFUSALS).map(({ reason }) => visible(reason, "one-line"));
  const more = refused.length > SHOWN_REFUSALS ? " And others." : "";
  return `The gateway refused ${count} ${count === 1 ? "request" : "requests"} of the agent: ${shown.join(" ")}${more}`;
}

function runFindings(facts: ReviewFacts): readonly Finding[] {
  const found: Finding[] = [];
  if (facts.agentExit !== null && facts.agentExit !== 0)
    found.push(
      finding(
        "agent-failed",
        `The agent ended with status ${facts.agentExit}; its work may be half done.`,
      ),
    );
  if (facts.endedWhenDone !== null) found.push(finding("did-not-end", facts.endedWhenDone));
  if (facts.processesRefused > 0)
    found.push(
      finding(
        "process-limit",
        `The container hit its limit on processes; ${facts.processesRefused} were refused.`,
      ),
    );
  if (facts.hitMemoryLimit)
    found.push(
      finding("memory-limit", "Something in the container was ended at the memory limit."),
    );
  if (facts.egressRefused.length > 0)
    found.push(finding("egress-refused", refusedSentence(facts.egressRefused)));
  if (facts.flattened !== null)
    found.push(
      finding("declared-loss", `The agent's history became one commit: ${facts.flattened}`),
    );
  if (facts.leftBehind.total > 0)
    found.push(
      finding(
        "left-behind",
        `${facts.leftBehind.total} files that Git ignores stayed behind and are not part of the branch.`,
        facts.leftBehind.names,
      ),
    );
  return found;
}

function metadataFindings(facts: ReviewFacts): readonly Finding[] {
  return [
    ...list("authorship", "These commits name an author who is not the agent.", facts.otherAuthors),
    ...messageFindings(facts.messages),
    ...list(
      "metadata-changed",
      "Not everything about these commits could be published as it was.",
      facts.metadataChanges,
    ),
    ...(facts.lastMessage === "differs"
      ? [
          finding(
            "message-differs",
            "The last commit says something else than last-commit-message.txt.",
          ),
        ]
      : []),
    ...list(
      "lfs-pointer",
      "New Git LFS pointers: what they point to was not imported and exists nowhere.",
      facts.lfsPointers,
    ),
  ];
}

function list(code: Finding["code"], why: string, paths: readonly string[]): readonly Finding[] {
  return paths.length === 0 ? [] : [finding(code, why, paths)];
}
