import type { AddedLine } from "../../git/added-lines.ts";
import type { ReviewFacts, SecretSeen } from "../../policy/facts.ts";
import { type ScannedText, secretsIn } from "../../policy/secret-scan.ts";
import { needlesOf } from "../../policy/secret-values.ts";
import type { SecretsInUse } from "./secrets-in-use.ts";

/** Added text of one file that is searched; keys are short, and stand in files that people write. */
const FILE_CHARS = 1024 * 1024;
/** Added text of a branch that is searched, in all. */
const BRANCH_CHARS = 32 * 1024 * 1024;

export type SecretFacts = Pick<ReviewFacts, "secrets" | "secretsInUse" | "notScanned">;

/** Searches what a branch adds, and what its commits say, for credentials of known forms and for those in use. */
export async function gatherSecrets(
  lines: readonly AddedLine[],
  messages: ReviewFacts["messages"],
  inUse: SecretsInUse,
): Promise<SecretFacts> {
  const { texts, notScanned } = textsOf(lines, messages);
  const needles = inUse.secrets.flatMap(({ name, value }) =>
    needlesOf(value).map((needle) => ({ what: `${name}${needle.form}`, text: needle.text })),
  );
  const secrets: SecretSeen[] = [];
  const used: SecretSeen[] = [];
  for (const text of texts) {
    for (const { what, certainty, offset } of await secretsIn(text))
      secrets.push({ where: text.whereIs(offset), what, certainty });
    for (const { what, text: needle } of needles) {
      const offset = text.text.indexOf(needle);
      if (offset !== -1) used.push({ where: text.whereIs(offset), what, certainty: "known" });
    }
  }
  return { secrets, secretsInUse: used, notScanned: [...notScanned, ...inUse.notRead] };
}

interface PlacedText extends ScannedText {
  /** Names the place of an offset, without the text there. */
  readonly whereIs: (offset: number) => string;
}

/** The added lines of each file joined, so that a key of several lines is one text; cut where it is too much. */
function textsOf(
  lines: readonly AddedLine[],
  messages: ReviewFacts["messages"],
): { readonly texts: readonly PlacedText[]; readonly notScanned: readonly string[] } {
  const files = new Map<string, AddedLine[]>();
  for (const one of lines) {
    const own = files.get(one.path);
    if (own === undefined) files.set(one.path, [one]);
    else own.push(one);
  }
  const texts: PlacedText[] = messages.map(({ commit, message }) => ({
    path: "",
    text: message.slice(0, FILE_CHARS),
    whereIs: () => `commit ${commit.slice(0, 12)}`,
  }));
  const notScanned: string[] = [];
  let left = BRANCH_CHARS;
  for (const [path, own] of files) {
    const total = own.reduce((sum, one) => sum + one.line.length + 1, -1);
    const text = startOf(own, Math.min(left, FILE_CHARS));
    if (text.length < total)
      notScanned.push(`${path}: ${text.length} of ${total} added characters were searched`);
    left -= text.length;
    if (text !== "") texts.push({ path, text, whereIs: (offset) => placeOf(own, offset) });
  }
  return { texts, notScanned };
}

/** The lines joined, up to a number of characters. */
function startOf(lines: readonly AddedLine[], limit: number): string {
  const taken: string[] = [];
  let length = 0;
  for (const { line } of lines) {
    if (length > limit) break;
    taken.push(line);
    length += line.length + 1;
  }
  return taken.join("\n").slice(0, limit);
}

function placeOf(lines: readonly AddedLine[], offset: number): string {
  let end = 0;
  for (const { path, line, lineNumber } of lines) {
    end += line.length + 1;
    if (offset < end) return `${path}:${lineNumber}`;
  }
  return lines[0]?.path ?? "";
}
