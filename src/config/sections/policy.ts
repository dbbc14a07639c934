import picomatch from "picomatch";
import { z } from "zod";
import {
  FINDINGS,
  NEVER_LOWERED,
  type PolicyLevel,
  SEVERITIES,
  isFindingCode,
} from "../../core/findings.ts";
import { setting } from "../setting.ts";
import { repositoryPath } from "../text-schemas.ts";

/**
 * A glob that matches nothing protects nothing, so what could not be compiled is refused. A leading `!` would mean
 * "everything but".
 */
const protectedGlob = repositoryPath().refine((glob) => !glob.startsWith("!") && compiles(glob));

function compiles(glob: string): boolean {
  try {
    picomatch.makeRe(glob, { debug: true, noextglob: true });
    return true;
  } catch {
    return false;
  }
}

export const protectedGlobs = setting({
  key: "policy.protected",
  guard: "GUARD_PROTECTED",
  flag: { name: "--protect", takes: "GLOB" },
  kind: "list",
  schema: z.array(protectedGlob).max(200),
  expects: "at most 200 globs relative to the repository's root",
  standard: [],
  description: "Paths whose change blocks a promotion, besides the built-in ones: globs.",
  loosening: "never",
});

const LEVEL = /^([a-z-]{1,40}): ?(info|warn|block)$/;

/** `code: severity`, of a code that exists. */
const level = z.string().transform((text, context): PolicyLevel => {
  const [, code = "", name] = LEVEL.exec(text) ?? [];
  const severity = SEVERITIES.find((one) => one === name);
  if (isFindingCode(code) && severity !== undefined) return { code, severity };
  context.addIssue({ code: "custom", message: "not a code and a severity" });
  return z.NEVER;
});

/** The same code twice would leave open which of the two counts. */
function eachOnce(levels: readonly PolicyLevel[]): boolean {
  return new Set(levels.map((one) => one.code)).size === levels.length;
}

function weight({ code, severity }: PolicyLevel): number {
  return SEVERITIES.indexOf(severity) - SEVERITIES.indexOf(FINDINGS[code]);
}

export const raise = setting({
  key: "policy.raise",
  guard: "GUARD_RAISE",
  flag: { name: "--raise", takes: "CODE:LEVEL" },
  kind: "list",
  schema: z.array(level.refine((one) => weight(one) >= 0)).refine(eachOnce),
  expects:
    "a list like `binary: block`, each code once: a code of docs/findings.md, and info, warn or block, not below its default",
  standard: [],
  description: "Findings that weigh more than by default: `code: severity`.",
  loosening: "never",
});

export const lower = setting({
  key: "policy.lower",
  guard: "GUARD_LOWER",
  flag: { name: "--lower", takes: "CODE:LEVEL" },
  kind: "list",
  schema: z
    .array(level.refine((one) => weight(one) <= 0 && !NEVER_LOWERED.has(one.code)))
    .refine(eachOnce),
  expects: `a list like \`binary: info\`, each code once: a code of docs/findings.md but ${[...NEVER_LOWERED].join(", ")}, and info, warn or block, not above its default`,
  standard: [],
  description: "Findings that weigh less than by default: `code: severity`.",
  loosening: { when: "for any value", test: (levels) => levels.length > 0 },
});
