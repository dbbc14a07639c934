import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ARTIFACT } from "../core/artifacts.ts";
import type { EgressTotals } from "../core/egress.ts";
import { sumOf } from "../core/egress-totals.ts";
import type { RunRecord } from "../core/run-record.ts";
import type { DiskGrowth, MissingLog, ResourcePeaks, RunSpec } from "../core/run-spec.ts";
import type { Finding } from "../policy/finding.ts";
import { readOutbox } from "../run/artifacts/outbox.ts";
import { endingOf } from "../run/container/ending.ts";
import { readEgress } from "../run/egress/read-egress.ts";
import { runPaths } from "../run/paths.ts";
import { readImportReport } from "../run/stages/import.ts";
import { readFindings } from "../run/stages/review.ts";
import { readSpec } from "../run/stages/spec.ts";
import { type SnapshotSummary, readSnapshotSummary } from "./snapshot-summary.ts";

export interface ArtifactSummary {
  readonly name: string;
  readonly sizeBytes: number;
}

/** Everything the record and the journal hold about a run, as far as it came. */
export interface RunFacts {
  readonly run: RunRecord;
  readonly spec: RunSpec | undefined;
  /** Undefined when there was no snapshot. */
  readonly snapshot: SnapshotSummary | undefined;
  readonly artifacts: readonly ArtifactSummary[];
  /** About the way the work came back, partly in the guest's words. */
  readonly remarks: readonly string[];
  /** Imported; undefined when nothing was. */
  readonly commits: number | undefined;
  /** Undefined when there was no review. */
  readonly findings: readonly Finding[] | undefined;
  readonly peaks: ResourcePeaks | undefined;
  /** What of the agent's logs is not there; undefined where they are whole. */
  readonly missingLog: MissingLog | undefined;
  readonly disk: DiskGrowth | undefined;
  /** What went through the gateway; undefined where nothing did. */
  readonly egress: EgressTotals | undefined;
  /** Where the leased worktree is; null when there was none. */
  readonly leasePath: string | null;
  /** The exact call of the engine; empty when it was never made. */
  readonly argv: readonly string[];
  readonly record: string;
}

export async function runFacts(stateDir: string, run: RunRecord): Promise<RunFacts> {
  const paths = runPaths(stateDir, run.id);
  const spec = await readSpec(paths);
  const imported = await readImportReport(paths);
  return {
    run,
    spec: spec.ok ? spec.value : undefined,
    snapshot: await readSnapshotSummary(paths.snapshotManifest),
    artifacts: await artifactsOf(paths.artifacts),
    remarks: imported?.remarks ?? [],
    commits: imported?.commits,
    findings: await readFindings(paths),
    peaks: endingOf(run).peaks,
    missingLog: endingOf(run).log,
    disk: endingOf(run).disk,
    egress: await egressOf(paths.egress),
    leasePath: leasePathOf(run),
    argv: await argvOf(paths.containerArgv),
    record: paths.root,
  };
}

async function artifactsOf(directory: string): Promise<readonly ArtifactSummary[]> {
  const saved = await readOutbox(directory);
  if (!saved.ok) return [];
  const { taskId, commitMessage, manifest, patches } = saved.value;
  const named = [
    { name: ARTIFACT.taskId, bytes: taskId },
    { name: ARTIFACT.commitMessage, bytes: commitMessage },
    ...patches.map((patch) => ({ name: join(ARTIFACT.patches, patch.name), bytes: patch.bytes })),
    { name: ARTIFACT.manifest, bytes: manifest },
  ];
  return named.flatMap(({ name, bytes }) =>
    bytes === undefined ? [] : [{ name, sizeBytes: bytes.length }],
  );
}

/** From the record of the requests, which is there also where the run never came to its end. */
async function egressOf(path: string): Promise<EgressTotals | undefined> {
  const totals = sumOf(await readEgress(path));
  return totals.requests === 0 ? undefined : totals;
}

function leasePathOf({ outputs }: RunRecord): string | null {
  // The journal's own output of the stage, written by us.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const output = outputs.lease as { readonly lease: { readonly path: string } } | undefined;
  return output?.lease.path ?? null;
}

async function argvOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return text === undefined ? [] : (JSON.parse(text) as { argv: readonly string[] }).argv;
}
