import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { RunSpec, Validation, ValidationCommand } from "../core/run-spec.ts";
import { type Principal, readHead } from "../git/principal.ts";
import type { History } from "../history/port.ts";
import { whileBusy } from "../run/afterwards/busy.ts";
import { validationCommands } from "../run/choice/prepare.ts";
import { validate } from "../run/review/validation.ts";
import type { Call } from "./define.ts";
import { servicesFor } from "./run-services.ts";
import { settingsFor } from "./settings.ts";

/**
 * Runs the validation commands of the checkout's last commit on a tree of a run's.
 *
 * @param target the commit and its tree, in the user's repository, and the commands to take where that commit names none.
 * @returns null where there is no command at all.
 */
export async function validateTree(
  call: Call,
  at: { readonly run: RunRecord; readonly history: History; readonly principal: Principal },
  target: {
    readonly spec: RunSpec;
    readonly head: string;
    readonly tree: string;
    readonly otherwise: readonly ValidationCommand[];
    /** Told which commands are about to run. */
    readonly announce: (commands: readonly ValidationCommand[]) => void;
  },
): Promise<Result<Validation | null, Failure>> {
  const principalHead = await readHead(at.principal);
  if (!principalHead.ok) return principalHead;
  const { commit } = principalHead.value;
  const resolved = await settingsFor(call.context, { principal: at.principal, commit }, {});
  if (!resolved.ok) return resolved;
  const { spec, head, tree, otherwise } = target;
  const configured = validationCommands(resolved.value.settings);
  const commands = configured.length > 0 ? configured : otherwise;
  if (commands.length === 0) return ok(null);
  target.announce(commands);
  const services = await servicesFor(call, at, { spec, report: () => undefined });
  if (!services.ok) return services;
  return whileBusy(services.value, at.run.id, () =>
    validate(services.value, { spec, head, tree, commands }),
  );
}
