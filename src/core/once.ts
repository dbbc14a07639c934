/**
 * A value that is made when it is asked for first, and kept: what takes long to make and is not needed by every command,
 * or not before the first program was started, is not to be made while the program loads.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
