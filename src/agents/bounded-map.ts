/** A program that opens things and never closes them must not make the host's memory grow. */
const MAX_ENTRIES = 1000;

/** Sets an entry and forgets the oldest one when there are too many. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size <= MAX_ENTRIES) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
