import type { EgressTotals } from "../../core/egress.ts";
import { NO_EGRESS, withEntry } from "../../core/egress-totals.ts";
import { egressTail } from "../../run/egress/read-egress.ts";
import type { Call } from "../define.ts";
import { followRun } from "../follow-run.ts";
import { egressText, entryLine } from "../output/egress.ts";
import { dim } from "../output/text.ts";
import type { WithRun } from "../with-run.ts";

/** Prints the requests of a run, and with --follow those that come; their sum at the end, for people. */
export async function printEgress(call: Call, path: string, at: WithRun): Promise<void> {
  const { output } = call.context;
  await using tail = egressTail(path);
  let totals: EgressTotals = NO_EGRESS;
  const more = async (): Promise<void> => {
    for (const entry of await tail.more()) {
      totals = withEntry(totals, entry);
      if (call.format === "json") output.json({ version: 1, egress: entry });
      else output.result(...entryLine(entry));
    }
  };
  await followRun(call, at, more);
  if (call.format === "json") return;
  if (totals.requests === 0) output.progress(nothing(at));
  else output.result(dim(egressText(totals)));
}

function nothing({ run }: WithRun): string {
  return run.network === "gateway"
    ? `Run ${run.id} has sent nothing through the gateway.`
    : `Run ${run.id} had no gateway: its network was ${run.network}.`;
}
