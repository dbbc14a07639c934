import type { PublishedMessage } from "./commit-messages.ts";
import type { ManifestChange } from "./package-keys.ts";

/** What the host computed from the imported trees; the only thing findings are made of. */
export interface ReviewFacts {
  readonly changes: readonly Change[];
  /** Every symbolic link of the new tree, path to target; empty where none changed. */
  readonly links: ReadonlyMap<string, string>;
  /** Every line that was added; of binary files too, as text. */
  readonly addedLines: readonly AddedLine[];
  /** The package.json files that changed. */
  readonly packageFiles: readonly ManifestChange[];
  /** Globs of the files that decide what the setup commands fetch; empty in a run without them. */
  readonly setupGlobs: readonly string[];
  /** Paths that decide how guardloop itself behaves. */
  readonly controlPaths: readonly string[];
  readonly task: {
    readonly id: string;
    readonly file: string;
    /** Whether the plan at the branch's tip still offers the task. */
    readonly atTip: "runnable" | "not-runnable" | "missing";
  };
  /** Tasks other than the selected one whose status differs between base and tip. */
  readonly otherTasksChanged: readonly string[];
  readonly agentExit: number | null;
  /** Of an agent that was done and did not end by itself, one sentence of the host's; null for every other. */
  readonly endedWhenDone: string | null;
  readonly hitMemoryLimit: boolean;
  /** How many processes the container was refused at its limit, as the guest saw it. */
  readonly processesRefused: number;
  /** Why the gateway refused requests: distinct sentences, with how often; they may quote what the agent asked for. */
  readonly egressRefused: readonly { readonly reason: string; readonly count: number }[];
  readonly flattened: string | null;
  readonly leftBehind: { readonly total: number; readonly names: readonly string[] };
  /** Authors of the imported commits that are not the agent's identity. */
  readonly otherAuthors: readonly string[];
  /** Messages of the imported commits, without what the host added. */
  readonly messages: readonly PublishedMessage[];
  /** What the agent asked to be said about its last commit, against what that commit says. */
  readonly lastMessage: "as-given" | "differs";
  /** What of authors, dates and messages the import could not publish as it was. */
  readonly metadataChanges: readonly string[];
  /** New Git LFS pointers, to content that did not come with them. */
  readonly lfsPointers: readonly string[];
  /** What looks like a credential in added lines and commit messages. */
  readonly secrets: readonly SecretSeen[];
  /** Values of credentials in use that stand in added lines or commit messages. */
  readonly secretsInUse: readonly SecretSeen[];
  /** What was not searched for secrets, or not whole, each with why. */
  readonly notScanned: readonly string[];
  /** What the repository's policy protects besides the built-in groups: globs. */
  readonly protectedGlobs: readonly string[];
  /** Where in the tree the user's own Git finds hooks; `""` is the top of the tree. */
  readonly hookPaths: readonly string[];
  /** Every path of the new tree, folded to lower case in NFC, that stands for more than one path. */
  readonly collisions: readonly string[];
}

export interface AddedLine {
  readonly path: string;
  readonly line: string;
  /** Counted from 1, where it is known. */
  readonly lineNumber?: number;
}

/** Where a credential was seen and what it is. Never the credential. */
export interface SecretSeen {
  /** `src/app.ts:3`, or `commit 0123456789ab`. */
  readonly where: string;
  readonly what: string;
  readonly certainty: "known" | "suspected";
}

export interface Change {
  readonly path: string;
  readonly utf8: "valid" | "invalid";
  readonly kind: "added" | "deleted" | "modified" | "type-changed";
  readonly oldMode: string;
  readonly newMode: string;
  readonly addedLines: number;
  readonly deletedLines: number;
  readonly content: "text" | "binary";
  /** Size of the new content; 0 when deleted. */
  readonly sizeBytes: number;
  /** Where a symbolic link points, when the new entry is one. */
  readonly linkTarget: string | null;
}
