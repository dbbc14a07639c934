import { copyFileSync, linkSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { FileOwner } from "../../files/ownership.ts";
import { type Looked, lookAt } from "../layers/file-state.ts";
import {
  CHANGED,
  type LetInState,
  type WantedFile,
  judgedEarlier,
  letInPool,
  provideLetIn,
} from "../layers/let-in-pool.ts";
import { layersPlace } from "../layers/layers-place.ts";
import { withLayersLock } from "../layers/with-layers-lock.ts";
import { slotsOf } from "../layers/slots.ts";
import type { RunServices } from "../services.ts";
import {
  IN_BASE,
  NO_FILE,
  type NameVerdict,
  type OverlayOptions,
  type OverlayReport,
  UNREADABLE,
  type Verdict,
  allCandidates,
  copyInto,
  copyOverlay,
  judgeContent,
  namesJudge,
} from "./overlay.ts";
import { type WorkTree, seenAt } from "./work-tree.ts";

export interface LetIn {
  readonly report: OverlayReport;
  /** The layer that has the files, to lie under the base; none where they were copied. */
  readonly under: readonly string[];
}

/**
 * Lets the files in that Git does not track and that a rule names: over layers as one more of them, else copied. The rules
 * are the same, and every candidate is reported with the one that decided.
 */
export async function letIn(
  services: RunServices,
  owner: FileOwner,
  options: OverlayOptions,
): Promise<Result<LetIn, Failure>> {
  if (options.target.under.length > 0 && options.include.length > 0) {
    const layered = await letInByLayer(services, owner, options);
    if (!layered.ok) return layered;
    if (layered.value !== undefined) return ok(layered.value);
  }
  const copied = await copyOverlay(options);
  return copied.ok ? ok({ report: copied.value, under: [] }) : copied;
}

/** Keeps files of a work tree for a validation later on; from a layer they cost no room. */
export function keepAside(paths: readonly string[], tops: readonly string[], into: string): void {
  for (const path of paths) {
    const kept = join(into, path);
    mkdirSync(dirname(kept), { recursive: true });
    const from = tops.map((top) => join(top, path)).find((one) => lookAt(one) !== undefined);
    if (from === undefined) continue;
    // A file of a layer is never written to, only replaced.
    if (from.startsWith(`${tops[0]}/`)) copyFileSync(from, kept);
    else linkSync(from, kept);
  }
}

/**
 * The layer is kept for the repository and moved on by difference: what was read and judged before is not read again while
 * its file has the same size, times, inode and mode.
 *
 * @returns undefined where no layer can be had.
 */
async function letInByLayer(
  services: RunServices,
  owner: FileOwner,
  options: OverlayOptions,
): Promise<Result<LetIn | undefined, Failure>> {
  const { env, principal } = services;
  return withLayersLock(services, async () => {
    const pool = letInPool(layersPlace(env.stateDir, principal.repositoryId));
    const slots = await slotsOf(pool);
    // A file that comes anew with every installation.
    const judge = lookAt(services.guestBundle)?.state ?? "";
    const judged = await judgeAll(options, judgedEarlier(slots, judge));
    if (!judged.ok) return judged;
    const { wanted, named, remembered } = judged.value;
    const report: Report = { copied: [], keptOut: judged.value.keptOut };
    const holder = options.target.top;
    const provide = { pool, slots, owner, holder, wanted, judged: remembered, judge };
    const layer = wanted.size === 0 ? ok(NO_LAYER) : await provideLetIn(provide);
    if (!layer.ok) return layer;
    if (layer.value === undefined) return ok(undefined);
    const { files, failed } = layer.value;
    for (const file of named) await copyNamed(file, options.target, report);
    reportLayer(judged.value, { report, failed, target: options.target });
    return ok({ report, under: files === undefined ? [] : [files] });
  });
}

type Entry = OverlayReport["copied"][number];

interface Report {
  readonly copied: Entry[];
  readonly keptOut: Entry[];
}

const NO_LAYER = { files: undefined, failed: new Map<string, string>() } as const;

/** The base can have something in the place of a file, and then hides it. */
function reportLayer(
  { wanted, rules }: Judged,
  at: {
    readonly report: Report;
    readonly failed: ReadonlyMap<string, string>;
    readonly target: WorkTree;
  },
): void {
  const { report, failed, target } = at;
  const isHidden = hiddenBy(target);
  for (const [path, { from }] of wanted) {
    const errno = failed.get(path);
    const refused = isHidden(path) ? IN_BASE : errno && whyFailed(errno);
    if (refused === undefined) report.copied.push({ path, from, rule: rules.get(path) ?? "" });
    else report.keptOut.push({ path, from, rule: refused });
  }
}

/** Files that were named exactly may be secrets: they are copied for the run alone, and never kept. */
async function copyNamed(file: Entry, target: WorkTree, report: Report): Promise<void> {
  const refused = await copyInto(file.from, target, file.path);
  if (refused === undefined) report.copied.push(file);
  else report.keptOut.push({ ...file, rule: refused });
}

function whyFailed(errno: string): string {
  if (errno === CHANGED) return "changed while it was read";
  return UNREADABLE.has(errno)
    ? `cannot be read (${errno})`
    : "another work tree has something at this place";
}

interface Judged {
  /** For the layer. */
  readonly wanted: Map<string, WantedFile>;
  readonly rules: Map<string, string>;
  readonly named: Entry[];
  readonly keptOut: Entry[];
  /** Of every file that was judged by what it holds. */
  readonly remembered: LetInState["judged"];
}

/** @param known what was remembered of files that were judged before. */
async function judgeAll(
  options: OverlayOptions,
  known: readonly LetInState["judged"][],
): Promise<Result<Judged, Failure>> {
  const byName = namesJudge(options.include);
  const remembered: Record<string, readonly [string, string]> = {};
  const judged: Judged = {
    wanted: new Map(),
    rules: new Map(),
    named: [],
    keptOut: [],
    remembered,
  };
  const taken = new Set<string>();
  const sources = await allCandidates(options);
  if (!sources.ok) return sources;
  for (const { from, paths } of sources.value)
    for (const path of paths) {
      const name = byName(path);
      const file = name.standing === "final" ? undefined : lookAt(join(from, path));
      const verdict = await verdictOf({ from, path, name, file, known, remembered });
      if (verdict.kind !== "in" || taken.has(path) || file === undefined) {
        const rule = verdict.kind === "in" ? "came from another work tree already" : verdict.rule;
        judged.keptOut.push({ path, from, rule });
        continue;
      }
      const { rule } = verdict;
      taken.add(path);
      if (name.standing === "named") judged.named.push({ path, from, rule });
      else {
        judged.wanted.set(path, { from, looked: file });
        judged.rules.set(path, rule);
      }
    }
  return ok(judged);
}

interface Candidate {
  readonly from: string;
  readonly path: string;
  readonly name: NameVerdict;
  readonly file: Looked | undefined;
  readonly known: readonly LetInState["judged"][];
  readonly remembered: Record<string, readonly [string, string]>;
}

async function verdictOf(candidate: Candidate): Promise<Verdict> {
  const { from, path, name, file, known, remembered } = candidate;
  const { standing, kind, rule } = name;
  if (standing === "final") return { kind, rule };
  if (file?.kind !== "file") return NO_FILE;
  if (standing === "named") return { kind, rule };
  const key = `${from}\0${path}`;
  const before = known.map((judged) => judged[key]).find((one) => one?.[0] === file.state);
  if (before !== undefined && file.changed === "earlier") {
    remembered[key] = before;
    return before[1] === "" ? { kind: "in", rule } : { kind: "secret", rule: before[1] };
  }
  const verdict = await judgeContent(from, path, rule);
  // What could not be read is looked at again.
  if (verdict.kind !== "out" && file.changed === "earlier")
    remembered[key] = [file.state, verdict.kind === "in" ? "" : verdict.rule];
  return verdict;
}

/** Whether something of the work tree's, or of the base under it, stands in the place of a path. */
function hiddenBy(workTree: WorkTree): (path: string) => boolean {
  const directories = new Map<string, "nothing" | "directory" | "other">([[".", "directory"]]);
  const seen = (path: string): "nothing" | "directory" | "other" => {
    const known = directories.get(path);
    if (known !== undefined) return known;
    const above = seen(dirname(path));
    const here = above === "directory" ? seenAt(workTree, path) : above;
    directories.set(path, here);
    return here;
  };
  return (path) => {
    const above = seen(dirname(path));
    if (above !== "directory") return above === "other";
    return seenAt(workTree, path) !== "nothing";
  };
}
