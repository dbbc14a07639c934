import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { errnoOf } from "../../core/errno.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { SnapshotMethod } from "../../core/run-spec.ts";
import type { Engine, EngineFacts, ImageFacts } from "../../engine/port.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { containerUser } from "../container/container-user.ts";
import { type TrialVerdict, tryOverlay } from "./overlay-trial.ts";

export interface ChosenMethod {
  readonly method: SnapshotMethod;
  /** The reason, as a part of a sentence. */
  readonly why: string;
}

export interface MethodRequest {
  /** The setting `snapshot.method`. */
  readonly wanted: SnapshotMethod | "auto";
  readonly engine: Engine;
  readonly facts: EngineFacts;
  readonly image: { readonly name: string; readonly facts: ImageFacts };
  readonly stateDir: string;
  /** `anew`: what an earlier trial said does not count. */
  readonly trial: "remembered" | "anew";
  readonly signal: AbortSignal;
}

/** Where trials are made and what they showed is kept. */
function trialsPlace(stateDir: string): string {
  return join(stateDir, "snapshot-trials");
}

/**
 * How snapshots get their files on this host: the quickest way that a trial proved, or the one that was asked for. A
 * trial of layers costs a container; what it showed is remembered for this engine, kernel and file system.
 *
 * @returns `snapshot-method-unavailable` when the method that was asked for does not work here.
 */
export async function chooseMethod(request: MethodRequest): Promise<Result<ChosenMethod, Failure>> {
  const { wanted, stateDir } = request;
  const set = `snapshot.method is ${wanted}`;
  switch (wanted) {
    case "copy":
      return ok({ method: "copy", why: set });
    case "reflink":
      return (await clonesFiles(stateDir))
        ? ok({ method: "reflink", why: set })
        : unavailable(wanted, noClones(stateDir));
    case "overlay": {
      const tried = await overlayVerdict(request);
      if (!tried.ok) return tried;
      return tried.value.is === "proven"
        ? ok({ method: "overlay", why: set })
        : unavailable(wanted, tried.value.why);
    }
    case "auto":
      return quickest(request);
  }
}

async function quickest(request: MethodRequest): Promise<Result<ChosenMethod, Failure>> {
  const { engine, stateDir } = request;
  const tried = await overlayVerdict(request);
  if (!tried.ok) return tried;
  if (tried.value.is === "proven")
    return ok({ method: "overlay", why: `a trial showed that ${engine.name} mounts layers here` });
  const { why } = tried.value;
  return (await clonesFiles(stateDir))
    ? ok({ method: "reflink", why: `no layers, since ${why}` })
    : ok({ method: "copy", why: `no layers, since ${why}; and ${noClones(stateDir)}` });
}

function noClones(stateDir: string): string {
  return `the file system of ${stateDir} cannot clone files`;
}

function unavailable(wanted: SnapshotMethod, why: string): Result<never, Failure> {
  return fail(
    "snapshot-method-unavailable",
    `snapshot.method is ${wanted}, which does not work here: ${why}.`,
  );
}

/** Where layers are out of the question no container is started. */
async function overlayVerdict(request: MethodRequest): Promise<Result<TrialVerdict, Failure>> {
  const { engine, facts } = request;
  if (process.platform !== "linux")
    return ok({
      is: "refused",
      why: "the engine does not share this machine's files as Linux has them",
    });
  if (facts.rights === "rootless")
    return ok({ is: "refused", why: `${engine.name} without root's rights mounts none` });
  const directory = trialsPlace(request.stateDir);
  await mkdir(request.stateDir, { recursive: true, mode: 0o700 });
  // Not with its parents: then a read-only file system would be told as a directory that is not there.
  await mkdir(directory, { mode: 0o700 }).catch(unlessThere);
  const remembered = join(directory, `${await keyOf(request)}.json`);
  const known = await readVerdict(remembered);
  const counts = request.trial === "remembered" && request.wanted === "auto";
  if (known !== undefined && (counts || known.is === "proven")) return ok(known);
  const { image, stateDir, signal } = request;
  const checked = { ...image, setup: facts.setup };
  const verdict = await tryOverlay(engine, { image: checked, stateDir, within: directory, signal });
  // The reason of a refusal may have other words each time; it is kept as it was, and so is the file's age.
  if (verdict.ok && verdict.value.is !== "unclear" && verdict.value.is !== known?.is)
    await writeAtomic(remembered, `${JSON.stringify({ version: 1, ...verdict.value })}\n`);
  return verdict;
}

function unlessThere(error: unknown): void {
  if (errnoOf(error) !== "EEXIST") throw error;
}

const REMEMBERED = z.discriminatedUnion("is", [
  z.object({ version: z.literal(1), is: z.literal("proven") }),
  z.object({ version: z.literal(1), is: z.literal("refused"), why: z.string() }),
]);

/** What did not work may have had a passing reason, so it is not believed for ever. */
const REFUSED_FOR_MS = 7 * 24 * 60 * 60_000;

/** Undefined also for what cannot be read: then it is tried again. */
async function readVerdict(path: string): Promise<TrialVerdict | undefined> {
  const verdict = await readRemembered(path);
  if (verdict?.is !== "refused") return verdict;
  const { mtimeMs } = await stat(path);
  return Date.now() - mtimeMs > REFUSED_FOR_MS ? undefined : verdict;
}

async function readRemembered(path: string): Promise<TrialVerdict | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return REMEMBERED.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Of everything that decides about the outcome of a trial. */
async function keyOf({ facts, image, stateDir }: MethodRequest): Promise<string> {
  const { type } = await statfs(stateDir);
  const { kind, version, runtime, setup } = facts;
  // Podman gives a volume to whoever owns the target in the image.
  const imageId = kind === "podman" ? image.facts.id : null;
  const all = [
    stateDir,
    kind,
    version,
    runtime,
    setup.runtime,
    release(),
    type,
    containerUser(),
    imageId,
  ];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 24);
}

/** Whether a copy can share its blocks with the original there: Btrfs, XFS, APFS and others. */
async function clonesFiles(stateDir: string): Promise<boolean> {
  const directory = trialsPlace(stateDir);
  await ensurePrivateDirectory(directory);
  const from = join(directory, `clone-${process.pid}`);
  const to = `${from}-copy`;
  try {
    await writeFile(from, "blocks\n".repeat(1024));
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch {
    return false;
  } finally {
    for (const path of [from, to]) await rm(path, { force: true });
  }
}
