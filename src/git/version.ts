export interface VersionVerdict {
  readonly verdict: "ok" | "warning" | "problem";
  readonly text: string;
  readonly cure: string | null;
}

/** Older versions lack what an import needs, such as `safe.bareRepository`. */
const OLDEST_MINOR = 39;

/**
 * The first release of each series with the fixes of July 2025 (CVE-2025-48384, CVE-2025-48385 and others); series
 * before these got none, series after have them. Source: Git's release notes of 2.43.7 to 2.50.1.
 */
const FIRST_FIXED: Readonly<Record<number, number>> = {
  43: 7,
  44: 4,
  45: 4,
  46: 4,
  47: 3,
  48: 2,
  49: 1,
  50: 1,
};

/**
 * Versions to which distributions add fixes without another number: Debian 12, Amazon Linux 2, Ubuntu 24.04, Red Hat
 * Enterprise Linux and Ubuntu 25.04. Nothing certain can be said about them.
 */
const KEPT_BY_DISTRIBUTIONS = new Set([
  "2.39.5",
  "2.40.1",
  "2.43.0",
  "2.43.5",
  "2.45.2",
  "2.47.1",
  "2.48.1",
]);

/** Judges what `git version` prints; warns only where security fixes are known to be missing. */
export function judgeGitVersion(printed: string): VersionVerdict {
  const [major = 0, minor = 0, patch = 0] = numbersIn(printed);
  if (major < 2 || (major === 2 && minor < OLDEST_MINOR))
    return { verdict: "problem", text: printed, cure: `Install Git 2.${OLDEST_MINOR} or newer.` };
  if (major > 2 || minor > 50 || patch >= (FIRST_FIXED[minor] ?? Infinity))
    return { verdict: "ok", text: printed, cure: null };
  if (KEPT_BY_DISTRIBUTIONS.has(`${major}.${minor}.${patch}`))
    return { verdict: "ok", text: `${printed} (${UNCERTAIN})`, cure: null };
  return {
    verdict: "warning",
    text: `${printed} lacks security fixes.`,
    cure: "Install Git 2.50.1 or newer, or the newest one of your distribution.",
  };
}

const UNCERTAIN =
  "whether it has the security fixes of 2025 depends on your distribution: keep it up to date";

function numbersIn(printed: string): readonly number[] {
  const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(printed);
  return found?.slice(1).map((part) => Number(part) || 0) ?? [];
}
