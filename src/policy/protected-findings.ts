import picomatch from "picomatch";
import type { ReviewFacts } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";
import { ANY_NAME, PROTECTED, protectedGroup } from "./protected-paths.ts";

/**
 * One finding for each group of protected paths that changed, and one for what policy protects. A rename is a deletion
 * and an addition here, so its old and its new name both count.
 */
export function protectedFindings(facts: ReviewFacts): readonly Finding[] {
  const paths = facts.changes.map((change) => change.path);
  const hooks = new Set(paths.filter((path) => isHook(path, facts.hookPaths)));
  const builtIn = PROTECTED.flatMap((group) => {
    const own = paths.filter(
      (path) =>
        protectedGroup(path) === group || (group.code === "protected-git" && hooks.has(path)),
    );
    return own.length === 0 ? [] : [finding(group.code, group.why, own)];
  });
  const byPolicy = paths.filter((path) => isProtectedBy(facts.protectedGlobs, path));
  return byPolicy.length === 0
    ? builtIn
    : [
        ...builtIn,
        finding("protected-policy", "The repository's policy protects these paths.", byPolicy),
      ];
}

function isHook(path: string, hookPaths: readonly string[]): boolean {
  const folded = fold(path);
  return hookPaths.map(fold).some((hook) =>
    // Hooks at the top of the tree do not make every directory below one of hooks.
    hook === "" ? !folded.includes("/") : folded === hook || folded.startsWith(`${hook}/`),
  );
}

/** A name without wildcards that turns out to be a directory protects what is in it. */
function isProtectedBy(globs: readonly string[], path: string): boolean {
  const all = globs.flatMap((glob) => {
    const normal = glob.normalize("NFC").replace(/^\.\//, "").replace(/\/+$/, "");
    return [normal, `${normal}/**`];
  });
  return picomatch.isMatch(path.normalize("NFC"), all, { ...ANY_NAME, noextglob: true });
}

function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
