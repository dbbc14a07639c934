import { posix } from "node:path";
import { type FoundSecret, isPlaceholder, ownFindings } from "./secret-patterns.ts";
import { type SecretRule, loadSecretRules } from "./secret-rules.ts";

/** A text and where it stands; some forms are only known in files of a certain ending. */
export interface ScannedText {
  readonly path: string;
  readonly text: string;
}

let rules: Promise<readonly SecretRule[]> | undefined;

/**
 * Answers which secrets are in a text: secretlint's single rules and our own patterns, without what is clearly a
 * placeholder. Nothing in the text can switch it off. What it found is told by kind and place, never by value.
 *
 * @returns at most one for each kind and offset, in order of the offset.
 */
export async function secretsIn(scanned: ScannedText): Promise<readonly FoundSecret[]> {
  rules ??= loadSecretRules();
  const able = (await rules).filter((rule) => rule.hint.test(scanned.text));
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
  const { lintSource } = await import("@secretlint/core");
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
      config: { rules: able.map(({ creator }) => ({ id: creator.meta.id, rule: creator })) },
    },
  });
  return messages.flatMap(({ ruleId, range: [start, end] }) => {
    const rule = able.find(({ creator }) => creator.meta.id === ruleId);
    if (rule === undefined || end - start < (rule.atLeast ?? 0)) return [];
    const match = text.slice(start, end);
    if (isPlaceholder(match)) return [];
    const certainty = rule.doubtful?.test(match) === true ? "suspected" : "known";
    return [{ what: rule.what, certainty, offset: start } as const];
  });
}
