import { type Finding, finding } from "./finding.ts";

/** What changes after a run: computed whenever somebody looks, never stored. */
export interface StandingFacts {
  /** Undefined where the branch that a promotion lands on still is where the run began. */
  readonly staleBase: StaleBase | undefined;
  readonly validation: ValidationStanding;
}

export interface StaleBase {
  readonly branch: string;
  /** Commits that the run has not seen; 0 when the branch went back instead. */
  readonly commits: number;
  /** Whether the branch still holds the commit that the run began at. */
  readonly base: "held" | "lost";
  /** Files that differ on both sides since. */
  readonly bothSides: readonly string[];
}

/** Where exactly the tree that would land stands with the project's validation commands. */
export type ValidationStanding =
  | { readonly kind: "not-required" | "passed" | "missing" }
  | { readonly kind: "failed"; readonly commands: readonly string[] };

/** Findings about what became of the base and of the validation. */
export function dynamicFindings({ staleBase, validation }: StandingFacts): readonly Finding[] {
  const found: Finding[] = [];
  if (validation.kind === "failed")
    found.push(
      finding(
        "validation-failed",
        `The validation did not pass: ${validation.commands.join(", ")}. Only --without-validation REASON passes it over.`,
      ),
    );
  if (validation.kind === "missing")
    found.push(
      finding(
        "validation-missing",
        "This tree has not been validated. Only --without-validation REASON passes it over.",
      ),
    );
  if (staleBase !== undefined)
    found.push(finding("stale-base", whatMoved(staleBase), staleBase.bothSides));
  return found;
}

function whatMoved({ branch, commits, base, bothSides }: StaleBase): string {
  const moved = `${branch} has moved by ${commits} ${commits === 1 ? "commit" : "commits"} since the run began`;
  const lost = `${branch} no longer holds the commit that the run began at`;
  const both =
    bothSides.length === 0
      ? "no file was changed on both sides"
      : "these files were changed on both sides";
  return `${base === "held" ? moved : lost}; ${both}.`;
}
