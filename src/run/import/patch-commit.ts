import type { Manifest, PatchEntry } from "../../core/artifacts.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { CommitRequest } from "../../git/quarantine.ts";
import { GUARDLOOP } from "../../git/replay.ts";
import { importedMetadata } from "../artifacts/imported-metadata.ts";
import { ownTrailers } from "../artifacts/own-trailers.ts";

/** What an import knows besides the patches. */
export interface ImportFacts {
  readonly runId: string;
  readonly taskId: string;
  /** The commit on which the first patch is put. */
  readonly base: string;
  readonly spec: RunSpec;
  readonly manifest: Manifest;
  /** What the agent asked to be said about its last commit. */
  readonly message: string;
}

/** A patch's commit but for its place in the series. */
export interface PatchCommit {
  readonly request: Omit<CommitRequest, "tree" | "parent">;
  /** What of its author and message could not stay as it was, for the commit that it became. */
  readonly changed: (commit: string) => readonly string[];
}

export function commitOf(entry: PatchEntry, facts: ImportFacts): PatchCommit {
  const { spec } = facts;
  const date = `${Math.floor(Date.parse(spec.startedAt) / 1000)} +0000`;
  const metadata = importedMetadata(entry, {
    message: facts.message,
    agent: spec.agent.author,
    authorship: spec.import?.authorship ?? "keep",
    date,
  });
  return {
    request: {
      message: metadata.message,
      author: metadata.author,
      committer: { ...GUARDLOOP, date },
      trailers: [...metadata.trailers, ...ownTrailers(facts.runId, facts.taskId)],
    },
    changed: (commit) => metadata.changes.map((what) => `${commit.slice(0, 12)} ${what}`),
  };
}
