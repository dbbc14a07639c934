import { setImmediate as turn } from "node:timers/promises";
import { NO_POLICY } from "../../core/findings.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { applyPolicy } from "../../policy/apply-policy.ts";
import type { Change, ReviewFacts } from "../../policy/facts.ts";
import { findingsOf } from "../../policy/findings.ts";
import { parseManifest } from "../artifacts/manifest.ts";
import { gatherSecrets } from "./secret-facts.ts";

/** A pattern is compiled when it is first used, and once more, for good, when it is used again. */
const TIMES = 2;

/**
 * Reads a manifest and judges a change that nobody made, and throws both away: what runs for the first time is slow, and
 * while an agent works the runner has nothing else to do. Nothing depends on it.
 */
export async function rehearse({ policy = NO_POLICY, setup }: RunSpec): Promise<void> {
  const facts: ReviewFacts = {
    ...FACTS,
    protectedGlobs: policy.protected,
    setupGlobs: setup?.lockfiles ?? [],
  };
  for (let time = 0; time < TIMES; time += 1) {
    // The agent's output is read between the parts.
    await turn();
    parseManifest(REHEARSED);
    await turn();
    await gatherSecrets(LINES, facts.messages, { secrets: [], notRead: [] });
    await turn();
    applyPolicy(findingsOf(facts), policy);
  }
}

const COMMIT = "0".repeat(40);
const AUTHOR = { name: "Nobody", email: "nobody@guardloop.invalid", date: "0 +0000" };
const NO_OUTCOME = { outcome: "exited", exitCode: 0, signal: null };

/** Of a run that never was, and as a real one's. */
export const REHEARSED = Buffer.from(
  JSON.stringify({
    version: 1,
    base: COMMIT,
    patches: [{ file: "0001.patch", commit: COMMIT, tree: COMMIT, author: AUTHOR, message: "" }],
    finalTree: COMMIT,
    history: { kind: "linear" },
    committedLeftovers: false,
    ignoredLeftBehind: { total: 0, names: [] },
    agent: NO_OUTCOME,
    limitsHit: { memory: 0, processes: 0 },
    versions: { guest: "", node: "", git: "" },
  }),
);

/** A path that no pattern takes, so that each of them looks at it. */
const CHANGE: Change = {
  path: "src/rehearsal",
  utf8: "valid",
  kind: "modified",
  oldMode: "100644",
  newMode: "100644",
  addedLines: 1,
  deletedLines: 1,
  content: "text",
  sizeBytes: 20,
  linkTarget: null,
};

const LINES = [{ path: CHANGE.path, line: "const nothing = 0; // as it was", lineNumber: 1 }];

const FACTS: ReviewFacts = {
  changes: [CHANGE],
  links: new Map(),
  addedLines: LINES,
  packageFiles: [],
  setupGlobs: [],
  controlPaths: ["guardloop.toml"],
  task: { id: "T-1", file: "", atTip: "not-runnable" },
  otherTasksChanged: [],
  agentExit: 0,
  endedWhenDone: null,
  hitMemoryLimit: false,
  processesRefused: 0,
  egressRefused: [],
  flattened: null,
  leftBehind: { total: 0, names: [] },
  otherAuthors: [],
  messages: [{ commit: COMMIT, message: "Rehearse\n\nNothing came of it." }],
  lastMessage: "as-given",
  metadataChanges: [],
  lfsPointers: [],
  secrets: [],
  secretsInUse: [],
  notScanned: [],
  protectedGlobs: [],
  hookPaths: [],
  collisions: [],
};
