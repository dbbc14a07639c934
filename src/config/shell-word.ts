/** Quotes a word so that a line can be copied into a shell; the word may come from a repository's file. */
export function shellWord(word: string): string {
  if (/^[A-Za-z0-9_./:@%+=-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
