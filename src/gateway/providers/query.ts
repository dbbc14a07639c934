import type { Target } from "../target.ts";

/**
 * Path and query for the upstream.
 *
 * @param known names that may be in the query.
 * @returns undefined when another one is.
 */
export function upstreamPath(
  path: string,
  { query }: Target,
  known: readonly string[],
): string | undefined {
  if (!query.every(([name]) => known.includes(name))) return undefined;
  const written = query.map(([name, value]) => `${name}=${value}`).join("&");
  return written === "" ? path : `${path}?${written}`;
}
