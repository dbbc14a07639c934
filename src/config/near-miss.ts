/**
 * The known name that a mistyped one most likely means.
 *
 * @returns undefined when nothing is near enough: at most two edits, three in a long name.
 */
export function nearMiss(typed: string, known: readonly string[]): string | undefined {
  let best: { readonly name: string; readonly distance: number } | undefined;
  // Comparing is quadratic in the length, and the name comes from a file that anybody may have written.
  if (typed.length > 100) return undefined;
  for (const name of known) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  const limit = typed.length < 12 ? 2 : 3;
  return best !== undefined && best.distance <= limit ? best.name : undefined;
}

/** Levenshtein's distance: insertions, deletions and replacements. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: Array.from(to).length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(from).entries()) {
    const current = [row + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      const added = (current[column] ?? 0) + 1;
      const dropped = (previous[column + 1] ?? 0) + 1;
      current.push(Math.min(replaced, added, dropped));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
