import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import picomatch from "picomatch";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { DiskUse, RunSpec, SetupSpec } from "../../core/run-spec.ts";
import { type CopiedTree, copyTree } from "../../files/copy-tree.ts";
import { giveTo } from "../../files/ownership.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import type { ListedFile } from "../../git/list-files.ts";
import { leadsOut } from "../../policy/escaping-links.ts";
import { matching } from "./setup-spec.ts";
import type { SetupManifest } from "./setup-result.ts";

export interface Harvest {
  readonly spec: RunSpec;
  readonly setup: SetupSpec;
  /** The work tree that the commands left. */
  readonly workspace: string;
  /** Everything Git has in the commit that the work tree was made of. */
  readonly tracked: readonly ListedFile[];
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Takes what is to be kept out of a work tree that setup commands have written, as the untrusted files that they are, into
 * a directory of ours. Nothing that Git tracks is taken, so a command that changes the repository's own files changes
 * nothing.
 *
 * @returns the manifest, which is in the directory too.
 */
export async function harvest(
  { spec, setup, workspace, tracked, now, signal }: Harvest,
  into: string,
): Promise<Result<SetupManifest, Failure>> {
  await ensurePrivateDirectory(into);
  const to = join(into, "tree");
  await mkdir(to, { mode: 0o700 });
  const choice = chooser(tracked, setup.keep);
  const copied = await copyTree({
    from: workspace,
    to,
    judge: (path, kind) => choice.judge(path, kind),
    whyNoLink: (link, all) => (leadsOut(link, all) ? "it leads out of the tree" : undefined),
    limit: limitOf(spec),
    signal,
  });
  if (copied.outcome !== "whole") return refuse(copied.outcome, spec);
  const { uid, gid } = spec.container;
  giveTo(to, { uid, gid });
  const { files, links, bytes, leftOut } = copied;
  const { key, commands, allowHosts, keep, caches } = setup;
  const manifest: SetupManifest = {
    version: 1,
    key,
    madeAt: now.toISOString(),
    run: spec.runId,
    image: { name: spec.image.name, id: spec.image.id },
    commit: spec.principalHead,
    commands: [...commands],
    allowHosts: [...allowHosts],
    keep: [...keep],
    caches: [...caches],
    lockfiles: matching(tracked, setup.lockfiles).map(({ path, id }) => ({ path, blob: id })),
    files,
    links,
    bytes,
    tops: choice.tops(),
    owner: { uid, gid },
    leftOut: { total: leftOut.total, some: [...leftOut.some] },
  };
  await writeAtomic(join(into, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return ok(manifest);
}

/** The same limits as a snapshot may grow by: it becomes part of one. */
function limitOf({ limits }: RunSpec): DiskUse {
  return { bytes: limits.diskBytes ?? Infinity, entries: limits.files ?? Infinity };
}

function refuse(
  outcome: Exclude<CopiedTree["outcome"], "whole">,
  { limits }: RunSpec,
): Result<never, Failure> {
  if (outcome === "stopped")
    return fail("interrupted", "The run was interrupted while the result of setup was kept.");
  if (outcome === "deep")
    return fail("setup-failed", "The setup commands left directories that are nested too deep.");
  const mebibytes = Math.round((limits.diskBytes ?? 0) / 2 ** 20);
  return fail(
    "setup-failed",
    `The setup commands left more than limits.disk (${mebibytes} MiB) or limits.files (${limits.files ?? 0}) allow.`,
    { cure: "Name what is needed in setup.keep, or raise limits.disk and limits.files." },
  );
}

/** What is taken: by the globs where there are any, else everything that Git does not track. */
function chooser(tracked: readonly ListedFile[], keep: readonly string[]) {
  const files = new Set(tracked.map(({ path }) => path));
  const directories = new Set(tracked.flatMap(({ path }) => directoriesAbove(path)));
  const isKept =
    keep.length === 0
      ? (): boolean => true
      : picomatch(
          keep.flatMap((glob) => [glob, `${glob.replace(/\/$/, "")}/**`]),
          { dot: true },
        );
  const taken = new Set<string>();
  const tops: string[] = [];
  return {
    judge(path: string, kind: "file" | "directory" | "link"): "take" | "look-inside" | "leave" {
      if (files.has(path)) return "leave";
      if (directories.has(path)) return kind === "directory" ? "look-inside" : "leave";
      const parent = path.split("/").slice(0, -1).join("/");
      const isBelow = taken.has(parent);
      if (!isBelow && !isKept(path)) return kind === "directory" ? "look-inside" : "leave";
      if (kind === "directory") taken.add(path);
      if (!isBelow) tops.push(kind === "directory" ? `${path}/` : path);
      return "take";
    },
    tops: (): string[] => tops.toSorted(),
  };
}

function directoriesAbove(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
