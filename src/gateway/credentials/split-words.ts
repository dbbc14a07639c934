import { type Result, err, ok } from "../../core/result.ts";

const PART = /\s+|'([^']*)'|"([^"]*)"|([^\s'"]+)/y;

/**
 * Splits one line into words, as people write a command: spaces part words, and what stands between quotes of either kind
 * is taken as it is. No shell: nothing is expanded, and a backslash is a backslash.
 *
 * @returns what is wrong, to follow the line's name.
 */
export function splitWords(line: string): Result<readonly string[], string> {
  const words: string[] = [];
  let word: string | undefined;
  PART.lastIndex = 0;
  while (PART.lastIndex < line.length) {
    const found = PART.exec(line);
    if (found === null) return err("has a quote that is not closed");
    const part = found[1] ?? found[2] ?? found[3];
    if (part !== undefined) {
      word = (word ?? "") + part;
      continue;
    }
    if (word !== undefined) words.push(word);
    word = undefined;
  }
  if (word !== undefined) words.push(word);
  return ok(words);
}
