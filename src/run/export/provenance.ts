import { createHash } from "node:crypto";
import type { PromotionWay, RollbackWay } from "../../core/events.ts";

/** One move of the branch that a run lands on. */
interface Moved {
  readonly before: string;
  readonly after: string;
  readonly by: string;
  readonly why: string;
  /** From `before` to `after`, oldest first; none for a reset, and where the repository did not have them any more. */
  readonly commits: readonly { readonly commit: string; readonly tree: string }[];
}

/** Where a result came from; provenance.json of an archive. Hashes are SHA-256 in hex. */
export interface Provenance {
  readonly version: 1;
  readonly run: string;
  readonly exportedAt: string;
  readonly exportedBy: string;
  readonly guardloop: string;
  readonly task: string | null;
  readonly base: string;
  readonly agent: {
    readonly name: string;
    /** As the agent's program said it; null where it was not asked or did not say. */
    readonly version: string | null;
    readonly argvHash: string;
  };
  readonly image: {
    readonly name: string;
    readonly id: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly network: string;
  /** As the journal recorded it when the run began. */
  readonly specHash: string;
  /** Of the task plan at the base; null in records of 0.1. */
  readonly planHash: string | null;
  readonly promptHash: string;
  readonly patches: readonly { readonly file: string; readonly sha256: string }[];
  readonly imported: {
    readonly branch: string;
    readonly head: string;
    readonly tree: string;
    /** Oldest first; empty when the repository did not have them any more. */
    readonly commits: readonly { readonly commit: string; readonly tree: string }[];
  } | null;
  readonly findingsHash: string | null;
  readonly validation: { readonly tree: string; readonly verdict: string } | null;
  readonly decision: {
    readonly state: string;
    readonly promotion:
      | (Moved & {
          readonly how: PromotionWay;
          /** Blocking findings that were accepted, `code` or `code:path`. */
          readonly accepted: readonly string[];
          /** Why a failed or missing validation was passed over. */
          readonly withoutValidation: string | null;
        })
      | null;
    readonly rollback: (Moved & { readonly how: RollbackWay }) | null;
    readonly discard: { readonly at: string; readonly by: string; readonly why: string } | null;
  };
  /** Every other file of the archive, as it is in there. */
  readonly files: readonly {
    readonly name: string;
    readonly sha256: string;
    /** `redacted`: something was replaced, so it is not the record's file any more. */
    readonly content: "whole" | "redacted";
  }[];
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The hash that the journal has of a spec: over its JSON without spaces. */
export function specHashOf(spec: unknown): string {
  return sha256(JSON.stringify(spec));
}
