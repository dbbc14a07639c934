import type { IncomingHttpHeaders } from "node:http";
import { isObject, listOf, objectOf } from "./providers/json.ts";

/** What lies further ahead is not believed. */
const FURTHEST_MS = 31 * 24 * 60 * 60 * 1000;
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

export interface LimitAnswer {
  readonly headers: IncomingHttpHeaders;
  /** Of the answer; undefined where it is none. */
  readonly json: unknown;
}

/**
 * When a limit is over, by what such an answer says: Retry-After (RFC 9110), OpenAI's `x-ratelimit-reset-*` and the
 * ChatGPT plans' `resets_at`, Anthropic's `anthropic-ratelimit-*-reset`, Google's RetryInfo. Null where none says it.
 */
export function limitEnd({ headers, json }: LimitAnswer, now: Date): Date | null {
  const at = now.getTime();
  const ends = [
    retryAfter(headers, at),
    inBody(json, at),
    latest(usedUp(headers, "x-ratelimit-", at)),
    latest(usedUp(headers, "anthropic-ratelimit-", at)),
  ];
  const end = ends.find((ms) => ms !== undefined && ms >= at - 1000 && ms - at <= FURTHEST_MS);
  return end === undefined ? null : new Date(end);
}

function retryAfter(headers: IncomingHttpHeaders, at: number): number | undefined {
  const ms = Number(one(headers, "retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms)) return at + ms;
  const text = one(headers, "retry-after");
  return text === undefined ? undefined : (secondsFrom(text, at) ?? dateOf(text));
}

/** Ends of those limits of which nothing remains, or of which the answer does not say what remains. */
function usedUp(
  headers: IncomingHttpHeaders,
  family: "x-ratelimit-" | "anthropic-ratelimit-",
  at: number,
): readonly number[] {
  const ends: number[] = [];
  for (const name of Object.keys(headers)) {
    const kind = kindOf(name, family);
    if (kind === undefined) continue;
    const remaining = one(headers, remainingName(family, kind));
    if (remaining !== undefined && Number(remaining) > 0) continue;
    const end = momentOf(one(headers, name) ?? "", at);
    if (end !== undefined) ends.push(end);
  }
  return ends;
}

function kindOf(name: string, family: string): string | undefined {
  if (!name.startsWith(family)) return undefined;
  const rest = name.slice(family.length);
  if (family === "x-ratelimit-")
    return rest.startsWith("reset-") ? rest.slice("reset-".length) : undefined;
  return rest.endsWith("-reset") ? rest.slice(0, -"-reset".length) : undefined;
}

function remainingName(family: string, kind: string): string {
  return family === "x-ratelimit-" ? `${family}remaining-${kind}` : `${family}${kind}-remaining`;
}

/** `6m0s`, an RFC 3339 date, or seconds since 1970. */
function momentOf(text: string, at: number): number | undefined {
  if (/^\d{9,11}$/.test(text)) return Number(text) * 1000;
  const span = spanOf(text);
  return span === undefined ? dateOf(text) : at + span;
}

function spanOf(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    sum += Number(count) * (UNIT_MS[unit ?? "s"] ?? 0);
  return sum;
}

/** Google's `details`, and the plans of ChatGPT; both within `error`. Without `alt=sse` Google wraps it in a list. */
function inBody(json: unknown, at: number): number | undefined {
  const error = objectOf(objectOf(Array.isArray(json) ? json[0] : json)["error"]);
  const resetsAt = error["resets_at"];
  if (typeof resetsAt === "number") return resetsAt * 1000;
  const seconds = error["resets_in_seconds"];
  if (typeof seconds === "number") return at + seconds * 1000;
  for (const detail of listOf(error["details"])) {
    const delay = isObject(detail) ? detail["retryDelay"] : undefined;
    const span = typeof delay === "string" ? spanOf(delay) : undefined;
    if (span !== undefined) return at + span;
  }
  return undefined;
}

function secondsFrom(text: string, at: number): number | undefined {
  return /^\d+(?:\.\d+)?$/.test(text.trim()) ? at + Number(text) * 1000 : undefined;
}

function dateOf(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

function latest(moments: readonly number[]): number | undefined {
  return moments.length === 0 ? undefined : Math.max(...moments);
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
