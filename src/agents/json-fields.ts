/** A JSON object whose fields are not known to be anything. */
export type Fields = Readonly<Record<string, unknown>>;

/** The object on a line of JSON Lines; undefined for anything else. Never throws. */
export function objectOnLine(line: string): Fields | undefined {
  try {
    return asFields(JSON.parse(line));
  } catch {
    return undefined;
  }
}

export function asFields(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The `type` that tells events, items and blocks apart; empty when there is none. */
export function typeOf(fields: Fields | undefined): string {
  return textField(fields, "type") ?? "";
}

export function textField(fields: Fields | undefined, key: string): string | undefined {
  const value = fields?.[key];
  return typeof value === "string" ? value : undefined;
}

export function fieldsField(fields: Fields | undefined, key: string): Fields | undefined {
  return asFields(fields?.[key]);
}

/** The objects in an array; what is not an object is left out. */
export function listField(fields: Fields | undefined, key: string): readonly Fields[] {
  const value = fields?.[key];
  return Array.isArray(value) ? value.filter((entry) => isFields(entry)) : [];
}

/** A whole number of at least 0; anything else counts as 0. */
export function countField(fields: Fields | undefined, key: string): number {
  const value = fields?.[key];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/** The counts are a program's own, so they may be anything: their sum stays a whole number that can be counted with. */
export function sumOfCounts(...counts: readonly number[]): number {
  const all = counts.reduce((before, count) => before + count, 0);
  return Math.min(all, Number.MAX_SAFE_INTEGER);
}
