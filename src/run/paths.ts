import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Where a run keeps what; everything of a run lies below one directory, so it can be found without the database. */
export interface RunPaths {
  /** Names the state directory in labels: two of them may share an engine without cleaning up after each other. */
  readonly stateId: string;
  readonly root: string;
  readonly spec: string;
  /** Mounted read-only: guest, job, prompt, base index, passwd and group. */
  readonly job: string;
  readonly baseIndex: string;
  /** Bare repository with objects of the base that no kept store has, mounted read-only. */
  readonly store: string;
  /** What the container writes its work tree to: all files of it, or what differs from the layers under it. */
  readonly workspace: string;
  /** Work directory of the overlay over those layers. */
  readonly overlayWork: string;
  /** Names the layers; written before the container starts. */
  readonly layers: string;
  /** Mounted read-write as the artifacts directory; never trusted. */
  readonly outbox: string;
  /** The host's own copies of what was in the outbox. */
  readonly artifacts: string;
  readonly salvage: string;
  readonly quarantine: string;
  /** Where a promotion or rollback puts its new commits together. */
  readonly landing: string;
  readonly agentLog: string;
  readonly agentEvents: string;
  /** What went through the gateway, one request a line; of the setup phase too. */
  readonly egress: string;
  readonly setupLog: string;
  /** Everything the setup phase makes while it goes on. */
  readonly setup: string;
  /** What setup phases have made, over all runs; see `setupPlace`. */
  readonly setups: string;
  readonly containerArgv: string;
  readonly snapshotManifest: string;
  /** Untracked files that were let into the snapshot, for validating the result with the same ones. */
  readonly overlay: string;
  /** Everything a validation makes while it goes on. */
  readonly validation: string;
  readonly validationLog: string;
  readonly importReport: string;
  readonly review: string;
  /** Who asked the run to stop with `guardloop stop`; written before its owner is told. */
  readonly stopRequest: string;
  /** Held by a command that works on the run after its end, so that recovery leaves it alone. */
  readonly busy: string;
}

export function runPaths(stateDir: string, runId: string): RunPaths {
  const root = join(stateDir, "runs", runId);
  return {
    stateId: stateId(stateDir),
    root,
    spec: join(root, "spec.json"),
    job: join(root, "job"),
    baseIndex: join(root, "job", "base-index"),
    store: join(root, "base.git"),
    workspace: join(root, "workspace"),
    overlayWork: join(root, "overlay-work"),
    layers: join(root, "layers.json"),
    outbox: join(root, "outbox"),
    artifacts: join(root, "artifacts"),
    salvage: join(root, "salvage"),
    quarantine: join(root, "quarantine.git"),
    landing: join(root, "landing.git"),
    agentLog: join(root, "agent.log"),
    agentEvents: join(root, "agent.jsonl"),
    egress: join(root, "egress.jsonl"),
    setupLog: join(root, "setup.log"),
    setup: join(root, "setup"),
    setups: join(stateDir, "setup"),
    containerArgv: join(root, "container.json"),
    snapshotManifest: join(root, "snapshot-manifest.json"),
    overlay: join(root, "overlay"),
    validation: join(root, "validation"),
    validationLog: join(root, "validation.log"),
    importReport: join(root, "import.json"),
    review: join(root, "review.json"),
    stopRequest: join(root, "stop-request.json"),
    busy: join(root, "busy"),
  };
}

/** Ids of the runs that have a directory, whether the history knows them or not. */
export async function runDirectories(stateDir: string): Promise<readonly string[]> {
  return readdir(join(stateDir, "runs")).catch(() => []);
}

export function stateId(stateDir: string): string {
  return createHash("sha256").update(stateDir).digest("hex").slice(0, 12);
}

/** Paths inside the container; the contract in docs/artifacts.md. */
export const IN_CONTAINER = {
  workspace: "/workspace",
  artifacts: "/guardloop/artifacts",
  job: "/guardloop/job",
  guest: "/guardloop/job/guest.cjs",
  jobFile: "/guardloop/job/job.json",
  prompt: "/guardloop/job/prompt.md",
  baseIndex: "/guardloop/job/base-index",
  store: "/guardloop/base.git",
  /** What `store` borrows from, where it does. */
  seed: "/guardloop/seed.git",
  home: "/guardloop/home",
  modelSocket: "/guardloop/model.sock",
  proxySocket: "/guardloop/proxy.sock",
} as const;
