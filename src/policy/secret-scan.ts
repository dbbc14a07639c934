import { posix } from "node:path";
import { type FoundSecret, isPlaceholder, ownFindings } from "./secret-patterns.ts";
import { SECRET_RULES, type SecretRule } from "./secret-rules.ts";

/** A text and where it stands; some forms are only known in files of a certain ending. */
export interface ScannedText {
  readonly path: string;
  readonly text: string;
}

/**
 * Answers which secrets are in a text: secretlint's single rules and our own patterns, without what is clearly a
 * placeholder. Nothing in the text can switch it off. What it found is told by kind and place, never by value.
 *
 * @returns at most one for each kind and offset, in order of the offset.
 */
export async function secretsIn(scanned: ScannedText): Promise<readonly FoundSecret[]> {
  const able = SECRET_RULES.filter((rule) => rule.hint.test(scanned.text));
  const byRules = able.length === 0 ? [] : await lint(able, scanned);
  const all = [...ownFindings(scanned.text), ...byRules];
  const seen = new Set<string>();
  const once = all.filter(({ what, offset }) => {
    const key = `${offset} ${what}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  });
  return once.toSorted((a, b) => a.offset - b.offset);
}

async function lint(
  able: readonly SecretRule[],
  { path, text }: ScannedText,
): Promise<readonly FoundSecret[]> {
  const [{ lintSource }, ...creators] = await Promise.all([
    import("@secretlint/core"),
    ...able.map(async ({ load }) => (await load()).creator),
  ]);
  const { messages } = await lintSource({
    source: {
      // Its profiler keeps the name, so it does not get the real one.
      filePath: `scanned${posix.extname(path)}`,
      ext: posix.extname(path).toLowerCase(),
      content: text,
      contentType: "text",
    },
    options: {
      noPhysicFilePath: true,
      maskSecrets: true,
      config: { rules: creators.map((rule) => ({ id: rule.meta.id, rule })) },
    },
  });
  return messages.flatMap(({ ruleId, range: [start, end] }) => {
    const rule = able[creators.findIndex(({ meta }) => meta.id === ruleId)];
    if (rule === undefined || end - start < (rule.atLeast ?? 0)) return [];
    const match = text.slice(start, end);
    if (isPlaceholder(match)) return [];
    const certainty = rule.doubtful?.test(match) === true ? "suspected" : "known";
    return [{ what: rule.what, certainty, offset: start } as const];
  });
}
