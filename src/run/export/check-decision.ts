import type { z } from "zod";
import type { Git } from "../../git/git.ts";
import { PROMOTED, type PROVENANCE, ROLLED_BACK } from "./archive-shapes.ts";
import { type Outcome, good, mismatch, skipped } from "./check.ts";
import { commitsBetween } from "./commits-between.ts";

type Provenance = z.infer<typeof PROVENANCE>;
type Decision = NonNullable<Provenance["decision"]>;
type Promotion = NonNullable<Decision["promotion"]>;
type Rollback = NonNullable<Decision["rollback"]>;
type Move = Pick<Promotion, "before" | "after" | "commits">;

export interface DecisionAt {
  readonly provenance: Provenance;
  /** The archive's events, oldest first; undefined where they were redacted. */
  readonly events: readonly unknown[] | undefined;
  readonly git: Git | undefined;
}

/** What landed and how, and how it was taken back: the journal, the import and the commits have to agree. */
export async function checkDecision(at: DecisionAt): Promise<Outcome> {
  const { decision } = at.provenance;
  if (decision === undefined)
    return skipped("provenance.json does not tell of the decision in a way that can be checked.");
  const { promotion, rollback } = decision;
  if (promotion === null) return notPromoted(at.events);
  return checkMoves(at, promotion, rollback);
}

function notPromoted(events: DecisionAt["events"]): Outcome {
  return (events ?? []).some((one) => PROMOTED.safeParse(one).success)
    ? mismatch("events.jsonl speaks of a promotion, and provenance.json does not.")
    : skipped("The run was not promoted.");
}

async function checkMoves(
  at: DecisionAt,
  promotion: Promotion,
  rollback: Rollback | null,
): Promise<Outcome> {
  if ([promotion, rollback ?? promotion].some((move) => !isOfCommits(move)))
    return mismatch("provenance.json names something that is no commit.");
  const wrong =
    wrongLanding(promotion, at.provenance.imported) ??
    wrongReturn(promotion, rollback) ??
    wrongInJournal(at.events, promotion, rollback) ??
    (await wrongInRepository(at.git, [promotion, ...(rollback === null ? [] : [rollback])]));
  if (wrong !== undefined) return mismatch(wrong);
  const landed = `Landed by ${promotion.how} as ${promotion.after.slice(0, 12)}`;
  const back = rollback === null ? "" : `, taken back by ${rollback.how}`;
  return good(
    `${landed}${back}: ${at.events === undefined ? "the import agrees" : "journal and import agree"}.`,
  );
}

function isOfCommits({ before, after }: Move): boolean {
  return [before, after].every((id) => /^[0-9a-f]{40,64}$/.test(id));
}

function wrongLanding(
  { how, after, commits }: Promotion,
  imported: Provenance["imported"],
): string | undefined {
  const last = commits.at(-1);
  if (last !== undefined && last.commit !== after)
    return "The commits of the promotion do not end where it led to.";
  if (how === "squash" && commits.length > 1) return "A squash landed more than one commit.";
  if (how !== "fast-forward") return undefined;
  if (after !== imported?.head)
    return "The promotion is called a fast-forward and leads to another commit than the imported one.";
  return last === undefined || last.tree === imported.tree
    ? undefined
    : "The promotion landed another tree than the imported one.";
}

function wrongReturn(promotion: Promotion, rollback: Rollback | null): string | undefined {
  return rollback?.how === "reset" && rollback.after !== promotion.before
    ? "The rollback is called a reset and leads to another commit than the one before the promotion."
    : undefined;
}

/** A run may have been promoted and taken back before: the last of each counts. */
function wrongInJournal(
  events: readonly unknown[] | undefined,
  promotion: Promotion,
  rollback: Rollback | null,
): string | undefined {
  if (events === undefined) return undefined;
  const promoted = events.flatMap((one) => PROMOTED.safeParse(one).data ?? []).at(-1)?.event;
  const { commits: _landed, ...promotedAs } = promotion;
  if (!isSame(promoted, promotedAs)) return "events.jsonl speaks of another promotion.";
  if (rollback === null) return undefined;
  const back = events.flatMap((one) => ROLLED_BACK.safeParse(one).data ?? []).at(-1)?.event;
  const { commits: _reverts, ...takenBackAs } = rollback;
  return isSame(back, takenBackAs) ? undefined : "events.jsonl speaks of another rollback.";
}

/** Every field of `wanted` is in `found` as it is; `found` also has its type. */
function isSame(
  found: Readonly<Record<string, unknown>> | undefined,
  wanted: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(wanted).every(
    ([key, value]) => JSON.stringify(found?.[key]) === JSON.stringify(value),
  );
}

async function wrongInRepository(
  git: Git | undefined,
  moves: readonly Move[],
): Promise<string | undefined> {
  if (git === undefined) return undefined;
  for (const { before, after, commits } of moves) {
    const here = commits.length === 0 ? undefined : await commitsBetween(git, before, after);
    if (here !== undefined && JSON.stringify(here) !== JSON.stringify(commits))
      return `The commits that led to ${after.slice(0, 12)} are others here than those of provenance.json.`;
  }
  return undefined;
}
