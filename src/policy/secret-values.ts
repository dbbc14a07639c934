import { isPlaceholder } from "./secret-patterns.ts";

const SHORTEST = 8;
const LONGEST = 8_000;
/** Below this a part of a base64 text would be found by chance. */
const SHORTEST_BASE64 = 10;

/** Names that say that the value is one to keep. */
const SECRET_NAME =
  /pass|pwd|secret|token|key|auth|cred|private|dsn|salt|pin\b|signature|webhook|cookie|session|conn/i;
const ADDRESS_WITH_PASSWORD = /^[a-z][\w.+-]*:\/\/[^\s/:@]*:([^\s@]+)@/i;
/** A run of characters that nobody has thought up: small, capital and digit in one, as keys in base64 are. */
const RANDOM = /(?=[A-Za-z0-9+]*[a-z])(?=[A-Za-z0-9+]*[A-Z])(?=[A-Za-z0-9+]*\d)[A-Za-z0-9+]{12,}/;
/** Values that are settings, whatever their name: each pattern is for the whole value. */
const SETTINGS: readonly RegExp[] = [
  /^\p{L}+$/u, // a plain word
  /^[\d\s.,:+-]+$/, // numbers, dates, times, IPv4 addresses
  /^(?:\.{0,2}|~|[A-Za-z]:)?[/\\][^\s]*$/, // paths
  /^[a-z]+(?:[-_.][a-z]+)*$/i, // words with hyphens, host names, identifiers
  /^[a-z]{2}(?:-[a-z]+)+-\d[a-z]?$/, // regions of clouds
  /^[\w.-]+\.[a-z]{2,}(?::\d+)?(?:\/\S*)?$/i, // hosts with ports and paths
  /^[\w.-]+:\d{1,5}$/, // name and port
  /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/, // mail addresses
  /^v?\d+(?:\.\d+)+[\w.+-]*$/i, // versions
  /^[a-z][\w.+-]*:\/\/[^@\s]*$/i, // addresses without user info
  /^(?:true|false|yes|no|on|off|null|none|undefined)$/i,
];

/**
 * Whether finding this value in a file would mean that a credential has leaked. A setting that also stands in code on
 * purpose must not block every change, so what looks like one is left out.
 *
 * @param name the variable's name; one that speaks of a secret lets through shorter values.
 */
export function canBeSecret(name: string, value: string): boolean {
  if (value.length < SHORTEST || value.length > LONGEST) return false;
  const password = ADDRESS_WITH_PASSWORD.exec(value)?.[1];
  // The host of an address may well be called example; what counts is the password in it.
  if (isPlaceholder(password ?? value)) return false;
  if (SETTINGS.some((setting) => setting.test(value)))
    return speaksOfSecret(name) && RANDOM.test(value);
  if (speaksOfSecret(name)) return true;
  return value.length >= 16 && /\d/.test(value) && /\p{L}/u.test(value) && !/\s/.test(value);
}

/** Whether a variable's name says that its value is one to keep. */
export function speaksOfSecret(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** What to look for when a value may have leaked; `form` says how it is written, for the message. */
export interface Needle {
  readonly form: "" | ", in base64" | ", percent-encoded" | ", its password alone";
  readonly text: string;
}

/** The value as it is, with escapes expanded, percent-encoded and in base64; and the password of an address. */
export function needlesOf(value: string): readonly Needle[] {
  const expanded = value.replaceAll(String.raw`\n`, "\n");
  const plain = new Set([value, expanded, value.replaceAll("\n", String.raw`\n`)]);
  const encoded = encodeURIComponent(value);
  const password = passwordOf(value);
  const needles: readonly Needle[] = [
    ...[...plain].map((text) => ({ form: "" as const, text })),
    ...(encoded === value ? [] : [{ form: ", percent-encoded" as const, text: encoded }]),
    ...base64Of(value).map((text) => ({ form: ", in base64" as const, text })),
    ...(password === undefined ? [] : [{ form: ", its password alone" as const, text: password }]),
  ];
  return needles.filter(({ text }) => text.length >= SHORTEST);
}

/**
 * How a value shows in a base64 text in which it may begin at any byte: three alignments, without the characters at
 * both ends that also depend on the neighbours; in both alphabets (RFC 4648, sections 4 and 5).
 */
function base64Of(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    const inner = text.slice(Math.ceil((before * 8) / 6), whole);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [...new Set(forms)].filter((form) => form.length >= SHORTEST_BASE64);
}

function passwordOf(value: string): string | undefined {
  const password = ADDRESS_WITH_PASSWORD.exec(value)?.[1];
  return password !== undefined && canBeSecret("password", password) ? password : undefined;
}
