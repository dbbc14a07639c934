/** A place in a text that looks like a credential. The text itself stays where it is: it is never printed or kept. */
export interface FoundSecret {
  /** What it looks like, with an article: `a GitHub token`. */
  readonly what: string;
  /** `suspected`: a name such as `password` with a random value, which may well be harmless. */
  readonly certainty: "known" | "suspected";
  /** Where it begins, in UTF-16 units. */
  readonly offset: number;
}

export const PRIVATE_KEY = "a private key";

/**
 * What the rules of secretlint miss, and what is so common that it must be found without them. Each begins where a
 * run of its own characters begins, so that none looks at a text more than a few times, however hostile.
 */
const KNOWN: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    PRIVATE_KEY,
    // The header alone is in many documents; with a line of base64 behind it, it is a key.
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,400}?[A-Za-z0-9+/=]{32}/g,
  ],
  ["a PuTTY key", /PuTTY-User-Key-File-\d: /g],
  ["an AWS access key", /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ["a GitHub token", /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})/g],
  [
    "an OpenAI key",
    /(?<![A-Za-z0-9_-])sk-(?:[A-Za-z0-9]{32}|(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32})/g,
  ],
  ["an OpenRouter key", /(?<![A-Za-z0-9_-])sk-or-v1-[0-9a-f]{64}/g],
  [
    "an Anthropic key",
    /(?<![A-Za-z0-9_-])sk-ant-(?:api|oat|ort|sid|admin)\d{2}-[A-Za-z0-9_-]{20,200}/g,
  ],
  ["a Google API key", /(?<![A-Za-z0-9_-])AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])/g],
  ["a Google client secret", /(?<![A-Za-z0-9_-])GOCSPX-[A-Za-z0-9_-]{28}/g],
  ["a Google access token", /(?<![A-Za-z0-9_-])ya29\.[A-Za-z0-9_-]{30}/g],
  ["a Slack token", /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,200}/g],
  ["a Stripe live key", /(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{16,200}/g],
  ["an npm token", /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/g],
  // In any file, not in .npmrc alone.
  ["an npm token", /_authToken\s{0,4}=\s{0,4}["']?[A-Za-z0-9_.+/=-]{16,200}/g],
  ["a PyPI token", /(?<![A-Za-z0-9_-])pypi-AgE[A-Za-z0-9_-]{50}/g],
  ["a Hugging Face token", /(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/g],
  ["a refresh token", /refresh_?token["']?\s{0,8}[:=]\s{0,8}["'][^"'\s]{16,4000}["']/gi],
  [
    "a JSON web token",
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,4000}\.eyJ[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{10,2000}/g,
  ],
  ["an Azure account key", /AccountKey=[A-Za-z0-9+/]{60,200}={0,2}/g],
  ["an Azure access key", /SharedAccessKey=[A-Za-z0-9+/]{40,200}={0,2}/g],
];

/** A header on a line of its own whose body is not there, is cut off, or has a form we do not know. */
const BARE_HEADER =
  /^-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[ \t\r]{0,8}$(?!\s{0,8}(?:\.\.\.|…|<|\[))/gm;

const ASSIGNED =
  /(?:passw(?:or)?d|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[A-Za-z0-9_]{0,20}["']?\s{0,4}(?::=|=>|[:=])\s{0,4}(["'`])([^"'`\s]{12,200})\1/gi;

/** What documents and tests write where a credential would stand, and the sample token of jwt.io. */
const PLACEHOLDER =
  /example|placeholder|change_?-?me|your[_-]|redacted|dummy|sample|<[^>]{0,80}>|\.\.\.|…|[xX]{6}|\*{4}|0{10}|1234567890|eyJzdWIiOiIxMjM0NTY3ODkwIiwi/i;

/** True for text that stands for a credential without being one. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

/** What our own patterns find, without those of secretlint. */
export function ownFindings(text: string): readonly FoundSecret[] {
  const found: FoundSecret[] = [];
  for (const [what, pattern] of KNOWN)
    for (const match of text.matchAll(pattern))
      if (!isPlaceholder(match[0])) found.push({ what, certainty: "known", offset: match.index });
  const keys = new Set(found.map((one) => one.offset));
  for (const { index } of text.matchAll(BARE_HEADER))
    if (!keys.has(index)) found.push({ what: PRIVATE_KEY, certainty: "suspected", offset: index });
  for (const match of text.matchAll(ASSIGNED))
    if (looksRandom(match[2] ?? ""))
      found.push({
        what: "a password or key in quotes",
        certainty: "suspected",
        offset: match.index,
      });
  return found;
}

/** Mixed characters without the look of a template, a path, an address or a name made of words. */
function looksRandom(value: string): boolean {
  if (isPlaceholder(value) || /[${}%()[\],;]|:\/\/|^[./~]|^[a-z.]+$/.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value));
  const hex = /^[0-9a-f]{32,}$/i.test(value);
  return /[0-9]/.test(value) && (hex || kinds.length >= 3) && entropyBits(value) > 3.2;
}

/** Shannon's measure, in bits a character: words have about 3, random base64 of 20 characters about 4. */
function entropyBits(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => {
    const share = count / value.length;
    return sum - share * Math.log2(share);
  }, 0);
}
