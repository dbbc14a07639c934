export type JsonObject = Readonly<Record<string, unknown>>;

/** JSON from outside as an object; anything else is an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A count as an API says it; undefined for what is no whole number from 0. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Whether a field says nothing: missing, null, false, or an empty list. */
export function isUnset(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

/**
 * Every object in a value, itself included, parents first. `skip` says which fields of an object hold what is the
 * user's own data and not the API's words.
 */
export function* objectsIn(
  value: unknown,
  skip: (object: JsonObject, field: string) => boolean = () => false,
): Generator<JsonObject> {
  // A stack of our own: how deep the request nests is the client's choice.
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) {
      for (const item of next) waiting.push(item);
      continue;
    }
    if (!isObject(next)) continue;
    yield next;
    for (const [field, inner] of Object.entries(next))
      if (typeof inner === "object" && inner !== null && !skip(next, field)) waiting.push(inner);
  }
}
