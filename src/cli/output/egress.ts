import type { EgressEntry, EgressTotals } from "../../core/egress.ts";
import { size } from "./duration.ts";
import { grouped } from "./grouped.ts";
import { type Segment, dim, green, red, yellow } from "./text.ts";

/** What went through the gateway, on one line. */
export function egressText(totals: EgressTotals): string {
  const { requests, refused, failed, rateLimited, unauthenticated } = totals;
  const troubles = [
    counted(refused, "refused"),
    counted(failed, "failed"),
    counted(rateLimited, "limited"),
    counted(unauthenticated, "not authenticated"),
  ].filter((text) => text !== "");
  const used =
    totals.inputTokens + totals.outputTokens === 0
      ? ""
      : `, ${grouped(totals.inputTokens)} tokens in, ${grouped(totals.outputTokens)} out`;
  const { costUsd } = totals;
  const cost = costUsd === null || costUsd === 0 ? "" : `, ${dollars(costUsd)}`;
  const trouble = troubles.length === 0 ? "" : ` (${troubles.join(", ")})`;
  return `${requests} ${requests === 1 ? "request" : "requests"}${trouble}${used}${cost}`;
}

function counted(count: number, what: string): string {
  return count === 0 ? "" : `${count} ${what}`;
}

/** Small amounts are what most requests cost. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** One request on one line: when, how it went, what it was, what it used. */
export function entryLine(entry: EgressEntry): readonly Segment[] {
  const { at, phase, method, host, path, tokens, costUsd, reason } = entry;
  const used = [
    `${size(entry.requestBytes)} out, ${size(entry.responseBytes)} in`,
    ...(tokens === null
      ? []
      : [
          `${grouped(tokens.input)} + ${grouped(tokens.output)} tokens${tokens.counted === "estimated" ? " (estimated)" : ""}`,
        ]),
    ...(costUsd === null ? [] : [dollars(costUsd)]),
    seconds(entry.totalMs),
    ...(entry.firstByteMs === null ? [] : [`first byte ${seconds(entry.firstByteMs)}`]),
  ].join(", ");
  const where = phase === "setup" ? dim("setup ") : "";
  return [
    dim(at.slice(11, 23)),
    "  ",
    outcomeText(entry),
    " ",
    where,
    `${method} ${host}${path}`,
    dim(`  ${used}`),
    reason === null ? "" : `  ${reason}`,
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;
}

const WIDTH = 8;

function outcomeText({ outcome, status }: EgressEntry): Segment {
  const text = (outcome === "answered" ? String(status ?? "") : outcome).padEnd(WIDTH);
  if (outcome === "answered" && status !== null && status < 400) return green(text);
  return outcome === "refused" || outcome === "failed" ? red(text) : yellow(text);
}
