const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/**
 * A point in time as a person writes it: `2h`, `3d` (that long ago), `2026-11-29` or `2026-11-29T18:00` (of the local
 * clock), or a full ISO 8601 time with its zone.
 *
 * @param edge which end of it is meant where a whole day is named.
 * @returns undefined when it is none of these.
 */
export function parseMoment(text: string, now: Date, edge: "start" | "end"): Date | undefined {
  const [, count = "", unit = ""] = /^(\d{1,6}) ?(s|min|m|h|d|w)$/.exec(text) ?? [];
  const length = UNIT_MS[unit];
  if (length !== undefined) return new Date(now.getTime() - Number(count) * length);
  if (/^\d{4}-\d{2}-\d{2}$/.test(text))
    return valid(`${text}T${edge === "start" ? "00:00:00.000" : "23:59:59.999"}`);
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? valid(text) : undefined;
}

/** JavaScript rolls 30 February over to March; here a day that is not in the calendar is none. */
function valid(text: string): Date | undefined {
  const date = new Date(text);
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return Number.isNaN(date.getTime()) || !exists ? undefined : date;
}
