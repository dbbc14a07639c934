import { join } from "node:path";
import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { keepAside } from "../history/damage.ts";
import type { History } from "../history/port.ts";
import { whileLocked } from "../run/locked.ts";
import { type Context, historyOf } from "./context.ts";

type Opened = Result<{ history: History; actions: readonly string[] }, Failure>;

/**
 * A damaged history is kept aside and a new one begun; what recovery finds on the disk fills it. The file is read as a
 * whole first: damage that no answer has touched yet would otherwise wait for the one that needs it.
 *
 * Any number of processes may call it at once: the new history of one is never put aside by another.
 *
 * @returns the history, which the caller closes, and a sentence where one was kept aside.
 */
export async function openOrBegin(context: Context): Promise<Opened> {
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
