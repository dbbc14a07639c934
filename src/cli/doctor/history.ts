import { lstat } from "node:fs/promises";
import { ok } from "../../core/result.ts";
import type { RunSummary } from "../../core/run-record.ts";
import { historyFile } from "../../history/damage.ts";
import type { History } from "../../history/port.ts";
import { mayBeAlive } from "../../process/owner.ts";
import { surveyContainers } from "../../run/house/containers.ts";
import type { HouseItem } from "../../run/house/item.ts";
import { surveyLocks } from "../../run/house/locks.ts";
import type { HouseServices } from "../../run/house/services.ts";
import { surveySnapshots } from "../../run/house/snapshots.ts";
import { surveyTrash } from "../../run/house/trash.ts";
import { type Context, historyOf } from "../context.ts";
import { openOrBegin } from "../damaged-history.ts";
import { count } from "../output/count.ts";
import { size } from "../output/duration.ts";
import { houseServices } from "../house/services.ts";
import { type Check, type Mend, good, problem, warning } from "./check.ts";

interface Around {
  /** Ends dead runs of the present repository; undefined outside of one. */
  readonly recovery: Mend | undefined;
  readonly repositoryId: string | undefined;
}

/** What the history says, and what lies around that no run owns. Creates no history. */
export async function historyChecks(
  context: Context,
  around: Around,
): Promise<{ readonly checks: readonly Check[]; readonly runs: readonly RunSummary[] }> {
  const { stateDir } = context.env;
  if ((await lstat(historyFile(stateDir)).catch(() => undefined)) === undefined)
    return { checks: [good("state", `${stateDir}, no runs`)], runs: [] };
  const { checkDatabase, openHistory } = await import("../../history/sqlite.ts");
  const sound = checkDatabase(stateDir);
  if (!sound.ok) {
    const isDamaged = sound.error.code === "history-damaged";
    const mend = isDamaged ? puttingAside(context, around.recovery) : undefined;
    return { checks: [problem("state", sound.error, mend)], runs: [] };
  }
  // Not as other commands open it: those close the directory to other users on the way.
  const opened = openHistory(stateDir, context.now);
  if (!opened.ok) return { checks: [problem("state", opened.error)], runs: [] };
  using history = opened.value;
  const runs = history.runs();
  const checks = [
    good("state", `${stateDir}, ${count(runs.length, "run")}`),
    ...runs.flatMap((run) => runChecks(context, run, around)),
    ...(await leftoverChecks(context, history)),
  ];
  return { checks, runs };
}

function puttingAside(context: Context, recovery: Mend | undefined): Mend {
  return {
    will: "keep the damaged file aside and rebuild what the disk still tells",
    async act() {
      // Looked at again: a recovery may have begun a new one since.
      const begun = await openOrBegin(context);
      if (!begun.ok) return begun;
      begun.value.history[Symbol.dispose]();
      const rebuilt = (await recovery?.act()) ?? ok([]);
      return rebuilt.ok ? ok([...begun.value.actions, ...rebuilt.value]) : rebuilt;
    },
  };
}

function runChecks(context: Context, run: RunSummary, around: Around): readonly Check[] {
  const { recovery, repositoryId } = around;
  const checks: Check[] = [];
  if (run.state === "running" && !mayBeAlive(run.owner, context.env.hostname))
    checks.push(
      warning(
        "state",
        `The process of run ${run.id} is gone.`,
        recovery !== undefined && run.repositoryId === repositoryId
          ? recovery
          : `Run \`guardloop recover\` in ${run.topLevel}.`,
      ),
    );
  if (run.keptSnapshot !== null)
    checks.push(
      warning(
        "state",
        `The snapshot of run ${run.id} is kept (${size(run.keptSnapshot.sizeBytes)}) at ${run.keptSnapshot.path}.`,
        `It holds work that could not be exported; kept until ${run.keptSnapshot.until.slice(0, 10)}.`,
      ),
    );
  return checks;
}

/** Everything here goes by the judgement of `gc`. */
async function leftoverChecks(context: Context, history: History): Promise<readonly Check[]> {
  const house = await houseServices(context, history, { scope: "here", flags: {} });
  // Engine and settings have their own lines.
  if (!house.ok) return [];
  const { services } = house.value;
  const items = await leftovers(services);
  return items.map((item) => leftover(context, services, item));
}

async function leftovers(services: HouseServices): Promise<readonly HouseItem[]> {
  const surveys = [
    await surveyContainers(services),
    await surveySnapshots(services, (run) => run.keptSnapshot === null),
    await surveyTrash(services),
    await surveyLocks(services),
  ];
  return surveys.flatMap(({ items }) => items);
}

function leftover(context: Context, services: HouseServices, item: HouseItem): Check {
  const what = `${item.kind} ${item.what}`;
  const text = `There is a left-over ${what}: ${item.why}.`;
  return warning("state", text, {
    will: "remove it",
    async act() {
      // Found again, since the history that it was found with is closed by now.
      const opened = await historyOf(context);
      if (!opened.ok) return opened;
      using history = opened.value;
      const again = await leftovers({ ...services, history });
      const found = again.find(
        ({ kind, what: where }) => kind === item.kind && where === item.what,
      );
      if (found === undefined) return ok([]);
      const done = await found.remove();
      if (!done.ok) return done;
      return ok(done.value === "removed" ? [`Removed the ${what}.`] : []);
    },
  });
}
