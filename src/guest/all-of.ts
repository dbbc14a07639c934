/**
 * Like Promise.all, but waits for every one also when one fails: nothing still works when the caller clears away what it
 * uses. Throws the failure that comes first in the list, whatever came first in time.
 */
export async function allOf<T extends readonly Promise<unknown>[] | []>(
  work: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
