import picomatch from "picomatch";
import type { ReviewFacts } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

/** Files that decide what the next setup phase fetches, once the branch has landed; its commands run with a network. */
export function setupFindings({ setupGlobs, changes }: ReviewFacts): readonly Finding[] {
  if (setupGlobs.length === 0) return [];
  const decides = picomatch([...setupGlobs], { dot: true });
  const paths = changes.map(({ path }) => path).filter((path) => decides(path));
  return paths.length === 0
    ? []
    : [
        finding(
          "setup-changed",
          "These files decide what the setup commands fetch and run; this run used those of your checkout, and after promoting, setup runs anew with these.",
          paths,
        ),
      ];
}
