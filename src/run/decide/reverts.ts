import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { revertingPerson } from "../../git/land.ts";
import { transferObjects } from "../../git/publish.ts";
import type { Quarantine } from "../../git/quarantine.ts";
import { readSeries } from "../../git/read-commit.ts";
import { replay } from "../../git/replay.ts";
import { hasAll } from "../../git/three-way.ts";
import type { DecisionServices, PublishedRun } from "./decision.ts";

/**
 * Makes revert commits for a promotion, newest first, and brings them into the user's repository. What somebody
 * undid already is left out. Touches no ref.
 *
 * @returns the last revert commit; `head` itself where nothing was left to undo.
 */
export async function makeReverts(
  services: DecisionServices,
  quarantine: Quarantine,
  at: {
    readonly run: PublishedRun;
    readonly promotion: { readonly before: string; readonly after: string };
    readonly head: string;
  },
): Promise<Result<string, Failure>> {
  const { run, promotion, head } = at;
  const range = { base: promotion.before, head: promotion.after };
  const undone = { base: promotion.after, ours: head, theirs: promotion.before };
  const nothingLeft = await hasAll(quarantine.git, undone);
  if (!nothingLeft.ok) return nothingLeft;
  if (nothingLeft.value) return ok(head);
  const series = await readSeries(services.principal.git, range);
  if (!series.ok) return series;
  const done = await replay(quarantine, {
    direction: "revert",
    commits: series.value.toReversed(),
    onto: head,
    committer: await revertingPerson(services.principal),
    notBefore: Math.floor(services.now().getTime() / 1000),
  });
  if (!done.ok) return done;
  if (done.value.kind === "conflict") {
    const { commit, paths } = done.value;
    return fail(
      "rollback-refused",
      `The promotion cannot be reverted: what came to ${run.onto} after it builds on it. Nothing was changed.`,
      {
        details: [
          `${commit.id.slice(0, 12)} ${commit.subject}`,
          ...paths.map((path) => `  ${path}`),
        ],
        cure: "Roll back the later runs first, or revert by hand.",
      },
    );
  }
  const { tip } = done.value;
  if (tip === head) return ok(tip);
  const moved = await transferObjects(quarantine, services.principal.git, { base: head, tip });
  return moved.ok ? ok(tip) : moved;
}
