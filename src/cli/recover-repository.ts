import { join } from "node:path";
import { agentAdapter } from "../agents/registry.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import type { Principal } from "../git/principal.ts";
import { keepAside } from "../history/damage.ts";
import type { History } from "../history/port.ts";
import type { RecoverServices, Recovery } from "../run/afterwards/recovery.ts";
import { whileLocked } from "../run/locked.ts";
import { recover } from "../run/recover.ts";
import { type Context, gitProgram, historyOf } from "./context.ts";
import type { Call } from "./define.ts";
import { answeringEngines } from "./engines.ts";
import { humanProgress } from "./output/progress.ts";
import { allPools } from "./prepare-run.ts";

/** Recovers the dead runs of one repository; refuses before anything is changed when no engine answers. */
export async function recoverRepository(
  { context, format }: Call,
  principal: Principal,
  orphans: RecoverServices["orphans"],
): Promise<Result<Recovery, Failure>> {
  const git = gitProgram(context);
  if (!git.ok) return git;
  const engines = await answeringEngines(context);
  if (!engines.ok) return engines;
  const opened = await openOrBegin(context);
  if (!opened.ok) return opened;
  using history = opened.value.history;
  const recovery = await recover({
    env: context.env,
    gitProgram: git.value,
    principal,
    engines: engines.value,
    pools: await allPools(context, principal),
    history,
    adapter: agentAdapter("command"),
    guestBundle: join(context.packageRoot, "dist/guest/guest.mjs"),
    now: context.now,
    report: format === "json" ? () => undefined : humanProgress(context.output),
    signal: context.interrupt,
    orphans,
  });
  return ok({ ...recovery, actions: [...opened.value.actions, ...recovery.actions] });
}

type Opened = Result<{ history: History; actions: readonly string[] }, Failure>;

/**
 * A damaged history is kept aside and a new one begun; what recovery finds on the disk fills it. The file is read as a
 * whole first: damage that no answer has touched yet would otherwise wait for the one that needs it.
 */
async function openOrBegin(context: Context): Promise<Opened> {
  const opened = await openWhole(context);
  if (opened.ok || opened.error.code !== "history-damaged") return opened;
  const directory = join(context.env.stateDir, "locks");
  await ensurePrivateDirectory(directory);
  const lock = { path: join(directory, "history"), doing: "keeping the damaged history aside" };
  return whileLocked(context.env, lock, () => beginAnew(context));
}

/** Asks again, now that nobody else can do the same: another process may have begun a new history already. */
async function beginAnew(context: Context): Promise<Opened> {
  const again = await openWhole(context);
  if (again.ok || again.error.code !== "history-damaged") return again;
  const aside = await keepAside(context.env.stateDir, context.now());
  const begun = await historyOf(context);
  return begun.ok
    ? ok({ history: begun.value, actions: [`The damaged history is kept as ${aside}.`] })
    : begun;
}

async function openWhole(context: Context): Promise<Opened> {
  const opened = await historyOf(context);
  if (!opened.ok) return opened;
  const whole = opened.value.verify();
  if (whole.ok) return ok({ history: opened.value, actions: [] });
  opened.value[Symbol.dispose]();
  return whole;
}
