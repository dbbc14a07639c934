import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { RunRecord } from "../../core/run-record.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import type { TarEntry } from "../../files/tar.ts";
import type { History } from "../../history/port.ts";
import type { Principal } from "../../git/principal.ts";
import { type RunPaths, runPaths } from "../paths.ts";
import { gatewaySecrets } from "../review/gateway-secrets.ts";
import { type SecretsInUse, secretsInUse } from "../review/secrets-in-use.ts";
import { readImportReport } from "../stages/import.ts";
import { readFindings } from "../stages/review.ts";
import { readSpec } from "../stages/spec.ts";
import { commitsBetween } from "./commits-between.ts";
import { type Provenance, sha256 } from "./provenance.ts";
import { redact, redactionsOf } from "./redact.ts";

export interface ExportServices {
  readonly env: HostEnvironment;
  readonly history: History;
  /** The run's repository. Undefined when it is gone: commits and trees are then not listed, nor its `.env` files read. */
  readonly principal: Principal | undefined;
  readonly version: string;
  readonly now: () => Date;
}

interface RecordFile extends TarEntry {
  readonly content: "whole" | "redacted";
  /** Hash before anything was replaced. */
  readonly original: string;
}

/** Files of a record that explain a run; the overlay is the user's own and stays. */
const FILES = [
  "spec.json",
  "container.json",
  "snapshot-manifest.json",
  "agent.log",
  "agent.jsonl",
  "egress.jsonl",
  "setup.log",
  "import.json",
  "review.json",
  "validation.log",
  "stop-request.json",
];
const DIRECTORIES = ["artifacts", "artifacts/patches", "salvage", "salvage/patches"];

export interface Exported {
  readonly entries: readonly TarEntry[];
  /** Names of the files in which something was replaced. */
  readonly redacted: readonly string[];
  /** Where values in use were not looked up, each with why. */
  readonly notRead: readonly string[];
}

/** Everything that explains a run, redacted, with its provenance in front. Changes nothing. */
export async function exportRun(
  services: ExportServices,
  run: RunRecord,
): Promise<Result<Exported, Failure>> {
  const paths = runPaths(services.env.stateDir, run.id);
  const spec = await readSpec(paths);
  const known = spec.ok ? spec.value : undefined;
  const inUse = await credentialsOf(services, known);
  if (!inUse.ok) return inUse;
  const redactions = redactionsOf(inUse.value.secrets);
  const events = services.history.events(run.id).map((one) => `${JSON.stringify(one)}\n`);
  const raw = [
    { name: "events.jsonl", bytes: Buffer.from(events.join("")) },
    ...(await readRecord(paths)),
  ];
  const files: RecordFile[] = [];
  for (const { name, bytes } of raw) {
    const cleaned = await redact({ path: name, bytes }, redactions);
    const content = cleaned.equals(bytes) ? "whole" : "redacted";
    files.push({ name, bytes: cleaned, content, original: sha256(bytes) });
  }
  const provenance = await provenanceOf(services, { run, spec: known, paths, files });
  const text = Buffer.from(`${JSON.stringify(provenance, null, 2)}\n`);
  const first = { name: "provenance.json", bytes: text };
  return ok({
    entries: [
      { ...first, bytes: await redact({ path: first.name, bytes: text }, redactions) },
      ...files,
    ],
    redacted: files.filter((file) => file.content === "redacted").map((file) => file.name),
    notRead: inUse.value.notRead,
  });
}

/**
 * What a review calls a secret in use, the gateway's credential, and the values of all variables that were passed, as
 * far as they are set now: a review leaves out those that may stand in code on purpose.
 */
async function credentialsOf(
  { env, principal }: ExportServices,
  spec: RunSpec | undefined,
): Promise<Result<SecretsInUse, Failure>> {
  const names = spec?.agent.passEnv ?? [];
  const passed = names.flatMap((name) => {
    const value = env.read(name);
    return value === undefined ? [] : [{ name: `${name} of the environment`, value }];
  });
  const known = [...passed, ...(spec === undefined ? [] : await gatewaySecrets({ env }, spec))];
  if (principal === undefined) {
    const gone = "the run's repository is not there, so no .env file of it was read for values";
    return ok({ secrets: known, notRead: [gone] });
  }
  const inUse = await secretsInUse({ env, principal }, { agent: { passEnv: names } });
  if (!inUse.ok) return inUse;
  const { secrets, notRead } = inUse.value;
  return ok({ secrets: [...known, ...secrets], notRead });
}

async function readRecord(paths: RunPaths): Promise<readonly TarEntry[]> {
  const names = [...FILES];
  for (const directory of DIRECTORIES) {
    const found = await readdir(join(paths.root, directory), { withFileTypes: true }).catch(
      () => [],
    );
    const plain = found.filter((entry) => entry.isFile()).map((entry) => entry.name);
    names.push(...plain.toSorted().map((name) => `${directory}/${name}`));
  }
  const read = names.map(async (name) => {
    const bytes = await readFile(join(paths.root, name)).catch(() => undefined);
    return bytes === undefined ? [] : [{ name, bytes }];
  });
  return (await Promise.all(read)).flat();
}

async function provenanceOf(
  services: ExportServices,
  at: {
    readonly run: RunRecord;
    readonly spec: RunSpec | undefined;
    readonly paths: RunPaths;
    readonly files: readonly RecordFile[];
  },
): Promise<Provenance> {
  const { run, files } = at;
  const findings = await readFindings(at.paths);
  const { validation } = run;
  return {
    version: 1,
    run: run.id,
    exportedAt: services.now().toISOString(),
    exportedBy: services.env.user,
    guardloop: services.version,
    task: run.task,
    base: run.base,
    network: run.network,
    specHash: run.specHash,
    planHash: at.spec?.plan.hash ?? null,
    ...madeBy(run, at.spec),
    patches: patchesIn(files),
    imported: await importedOf(services, at),
    findingsHash: findings === undefined ? null : sha256(JSON.stringify(findings)),
    validation: validation && { tree: validation.tree, verdict: validation.verdict },
    decision: await decisionOf(services, run),
    files: files.map(({ name, bytes, content }) => ({ name, sha256: sha256(bytes), content })),
  };
}

function madeBy(
  run: RunRecord,
  spec: RunSpec | undefined,
): Pick<Provenance, "agent" | "image" | "promptHash"> {
  const { name = "", id = "", labels = {} } = spec?.image ?? {};
  return {
    agent: {
      name: run.agent,
      version: run.agentVersion,
      argvHash: sha256(JSON.stringify(spec?.agent.argv ?? [])),
    },
    image: { name, id, labels },
    promptHash: sha256(spec?.prompt ?? ""),
  };
}

function patchesIn(files: readonly RecordFile[]): Provenance["patches"] {
  const prefix = "artifacts/patches/";
  return files
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, original }) => ({ file: name.slice(prefix.length), sha256: original }));
}

async function decisionOf(
  { principal }: ExportServices,
  { state, promotion, rollback, discard }: RunRecord,
): Promise<Provenance["decision"]> {
  const moved = async <T extends { readonly before: string; readonly after: string }>(move: T) => {
    const commits = principal && (await commitsBetween(principal.git, move.before, move.after));
    return { ...move, commits: commits ?? [] };
  };
  return {
    state,
    promotion: promotion && (await moved(withoutType(promotion))),
    rollback: rollback && (await moved(withoutType(rollback))),
    discard,
  };
}

function withoutType<T extends { readonly type: string }>(event: T): Omit<T, "type"> {
  const { type: _type, ...rest } = event;
  return rest;
}

async function importedOf(
  { principal }: ExportServices,
  { run, paths }: { readonly run: RunRecord; readonly paths: RunPaths },
): Promise<Provenance["imported"]> {
  const report = await readImportReport(paths);
  if (report === undefined) return null;
  const { branch, head, tree } = report;
  const commits = principal && (await commitsBetween(principal.git, run.base, head));
  return { branch, head, tree, commits: commits ?? [] };
}
