/** `1 file`, `2 files`, `3 branches`. */
export function count(number: number, noun: string): string {
  if (number === 1) return `1 ${noun}`;
  return `${number} ${noun}${noun.endsWith("ch") ? "es" : "s"}`;
}
