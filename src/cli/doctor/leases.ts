import type { Settings } from "../../config/settings.ts";
import { ok } from "../../core/result.ts";
import type { Principal } from "../../git/principal.ts";
import type { LeasePool } from "../../lease/port.ts";
import { tidyOf } from "../../run/house/pool.ts";
import { throwAway } from "../../run/house/trash.ts";
import type { Context } from "../context.ts";
import { poolFor } from "../prepare-run.ts";
import { type Check, type Mend, good, problem, warning } from "./check.ts";

const NAME = "leases";

/** The pool that runs lease from, and the built-in one, which earlier runs may have used. */
export async function leaseChecks(
  context: Context,
  at: { readonly principal: Principal; readonly settings: Settings; readonly recovery: Mend },
): Promise<readonly Check[]> {
  const pool = await poolFor(context, at.principal, at.settings.lease.kind);
  if (!pool.ok) return [problem(NAME, pool.error), ...(await builtinChecks(context, at.principal))];
  return [
    good(NAME, pool.value.description),
    ...(await inspectionChecks(pool.value, at.recovery)),
    ...(await builtinChecks(context, at.principal)),
  ];
}

async function inspectionChecks(pool: LeasePool, recovery: Mend): Promise<readonly Check[]> {
  const wedged = (await pool.wedged?.()) ?? ok([]);
  const wrong = await pool.inspect();
  if (!wrong.ok) return [problem(NAME, wrong.error)];
  const paths = wedged.ok ? wedged.value : [];
  return wrong.value.flatMap((text) => {
    const path = paths.find((one) => text.includes(`the worktree ${one},`));
    if (path !== undefined) return [warning(NAME, text, unwedging(pool, path))];
    // Said below, with what can be done about it.
    if (/^Slot \d+ of the pool is leased by guardloop-gc,|; the next lease of its slot/.test(text))
      return [];
    return [warning(NAME, text, text.includes("`guardloop recover`") ? recovery : null)];
  });
}

function unwedging(pool: LeasePool, path: string): Mend {
  return {
    will: `remove ${path}, if it holds nothing that could not be had again`,
    async act() {
      const done = (await pool.unwedge?.(path)) ?? ok(undefined);
      if (!done.ok) return done;
      return ok([
        done.value === undefined
          ? `Removed the worktree ${path}, which treehouse did not know.`
          : `${path} was left alone: ${done.value}.`,
      ]);
    },
  };
}

async function builtinChecks(context: Context, principal: Principal): Promise<readonly Check[]> {
  const tidy = tidyOf(context.env, principal);
  const lost = await tidy.lost();
  const checks = lost.ok ? [] : [problem(NAME, lost.error)];
  for (const path of lost.ok ? lost.value : [])
    checks.push(
      warning(NAME, `Git has the worktree ${path} of the pool on its list, and it is not there.`, {
        will: "take it from Git's list",
        act: async () =>
          ok((await tidy.forget(path)) === "removed" ? [`Took ${path} from Git's list.`] : []),
      }),
    );
  for (const path of await tidy.unregistered()) {
    const worth = await tidy.worth(path);
    const text = `${path} of the pool is no worktree of this repository`;
    if (worth !== undefined) {
      const cure = "Move away what you need of it; the next lease of its slot makes it anew.";
      checks.push(warning(NAME, `${text}, and ${worth}.`, cure));
      continue;
    }
    checks.push(
      warning(NAME, `${text}; all its files are in the repository.`, {
        will: "remove it",
        act: async () => {
          const done = await tidy.remove(path, (away) => throwAway(context.env.stateDir, away));
          return ok(done === "removed" ? [`Removed the directory ${path} of the pool.`] : []);
        },
      }),
    );
  }
  for (const directory of await tidy.stuck())
    checks.push(
      warning(NAME, `A removal of the worktree in ${directory} was interrupted.`, {
        will: "free its slot",
        act: async () => {
          await tidy.unstick();
          return ok([`Freed the slot ${directory}.`]);
        },
      }),
    );
  return checks;
}
