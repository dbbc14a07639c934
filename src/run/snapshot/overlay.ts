import { constants } from "node:fs";
import { copyFile, lstat, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import picomatch from "picomatch";
import { errnoOf } from "../../core/errno.ts";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { gitOutput, userGit } from "../../git/git.ts";
import { PRIVATE_KEY } from "../../policy/secret-patterns.ts";
import { secretsIn } from "../../policy/secret-scan.ts";
import { isSecretPath } from "../../policy/secrets.ts";
import { type WorkTree, seenAt } from "./work-tree.ts";

/** Only the head of a file is searched for secrets: they are short and stand early. */
const SCANNED_BYTES = 1024 * 1024;
/** The user works on meanwhile: a file can be gone, or closed to us. */
export const UNREADABLE: ReadonlySet<string> = new Set([
  "ENOENT",
  "EACCES",
  "EPERM",
  "ELOOP",
  "ENOTDIR",
]);
export const IN_BASE = "the base has something at this place";

export interface OverlayOptions {
  readonly program: string;
  readonly env: HostEnvironment;
  /** Work trees whose untracked files are candidates; the first that has a path wins. */
  readonly sources: readonly string[];
  /** Globs; one without wildcards names a single file and lets it in even where it looks like a secret. */
  readonly include: readonly string[];
  readonly target: WorkTree;
}

export type Rules = Pick<OverlayOptions, "program" | "env" | "include">;

/** `secret`: kept out because it looks like one. */
export interface Verdict {
  readonly kind: "in" | "out" | "secret";
  readonly rule: string;
}

/** A directory that is kept out whole is one, with a slash at its end. */
export interface JudgedFile extends Verdict {
  readonly path: string;
}

export interface OverlayReport {
  readonly copied: readonly {
    readonly path: string;
    readonly from: string;
    readonly rule: string;
  }[];
  /** A directory that was kept out whole is listed once, with a slash at its end. */
  readonly keptOut: readonly {
    readonly path: string;
    readonly from: string;
    readonly rule: string;
  }[];
}

/**
 * Copies the files that Git does not track and that a rule names into the snapshot, following no link, and reports
 * every candidate with the rule that let it in or kept it out.
 */
export async function copyOverlay(
  options: OverlayOptions,
): Promise<Result<OverlayReport, Failure>> {
  const copied: OverlayReport["copied"][number][] = [];
  const keptOut: OverlayReport["keptOut"][number][] = [];
  const taken = new Set<string>();
  const byName = namesJudge(options.include);
  const sources = await allCandidates(options);
  if (!sources.ok) return sources;
  for (const { from, paths } of sources.value)
    for (const path of paths) {
      const verdict = await judge(byName, from, path);
      if (verdict.kind !== "in" || taken.has(path)) {
        const rule = verdict.kind === "in" ? "came from another work tree already" : verdict.rule;
        keptOut.push({ path, from, rule });
        continue;
      }
      const refused = await copyInto(from, options.target, path);
      if (refused !== undefined) {
        keptOut.push({ path, from, rule: refused });
        continue;
      }
      taken.add(path);
      copied.push({ path, from, rule: verdict.rule });
    }
  return ok({ copied, keptOut });
}

/** What the rules say of every candidate of one work tree. Copies nothing. */
export async function judgeOverlay(
  options: Rules,
  from: string,
): Promise<Result<readonly JudgedFile[], Failure>> {
  const listed = await candidates(options, from);
  if (!listed.ok) return listed;
  const judged: JudgedFile[] = [];
  const byName = namesJudge(options.include);
  for (const path of listed.value) judged.push({ path, ...(await judge(byName, from, path)) });
  return ok(judged);
}

/** Those of every source, in the order of the sources; each is looked through while the others are. */
export async function allCandidates(
  options: OverlayOptions,
): Promise<
  Result<readonly { readonly from: string; readonly paths: readonly string[] }[], Failure>
> {
  const listed = await Promise.all(options.sources.map((from) => candidates(options, from)));
  const found: { readonly from: string; readonly paths: readonly string[] }[] = [];
  for (const [index, from] of options.sources.entries()) {
    const paths = listed[index];
    if (paths?.ok === false) return paths;
    found.push({ from, paths: paths?.value ?? [] });
  }
  return ok(found);
}

/** Untracked and ignored paths. Without a rule that could match inside, whole directories stand for their files. */
async function candidates(
  options: Rules,
  from: string,
): Promise<Result<readonly string[], Failure>> {
  const collapse = options.include.length === 0 ? ["--directory", "--no-empty-directory"] : [];
  const listed = await gitOutput(
    userGit(options.program, options.env, from),
    ["ls-files", "--others", "-z", ...collapse],
    { maxOutputBytes: 256 * 1024 * 1024 },
  );
  if (!listed.ok) return listed;
  return ok(
    listed.value
      .toString("utf8")
      .split("\0")
      .filter((path) => path !== ""),
  );
}

export interface NameVerdict extends Verdict {
  /** `named`: a rule is this very path. `open`: what the file is and holds still decides. */
  readonly standing: "final" | "named" | "open";
}

/** What rules say of a path by its name alone; each rule is read once. */
export function namesJudge(include: readonly string[]): (path: string) => NameVerdict {
  const exact = new Set(include);
  const globs = include.map((glob) => ({ glob, matches: picomatch(glob, { dot: true }) }));
  return (path) => {
    // A file that is named exactly counts as named, whatever glob stands before it.
    const isNamed = exact.has(path);
    const rule = isNamed ? path : globs.find(({ matches }) => matches(path))?.glob;
    const isSecret = isSecretPath(path);
    const secret = {
      standing: "final",
      kind: "secret",
      rule: "looks like a secret by its name",
    } as const;
    if (rule === undefined)
      return isSecret ? secret : { standing: "final", kind: "out", rule: "no rule lets it in" };
    if (path.split("/").includes(".git"))
      return { standing: "final", kind: "out", rule: "belongs to a repository" };
    if (isNamed) return { standing: "named", kind: "in", rule };
    // What is no regular file is said to be that first.
    return isSecret ? { ...secret, standing: "named" } : { standing: "open", kind: "in", rule };
  };
}

async function judge(
  byName: (path: string) => NameVerdict,
  from: string,
  path: string,
): Promise<Verdict> {
  const verdict = byName(path);
  const { standing, kind, rule } = verdict;
  if (standing === "final") return { kind, rule };
  const stat = await lstat(join(from, path)).catch(() => undefined);
  if (stat?.isFile() !== true) return NO_FILE;
  return standing === "named" ? { kind, rule } : judgeContent(from, path, rule);
}

export const NO_FILE: Verdict = { kind: "out", rule: "is not a regular file" };

/** What a file that a glob lets in holds decides last. */
export async function judgeContent(from: string, path: string, rule: string): Promise<Verdict> {
  const text = await head(join(from, path));
  if (text === undefined) return { kind: "out", rule: "cannot be read" };
  const secrets = await secretsIn({ path, text });
  // A key may go on behind what was read; other things that are only suspected are in many a package.
  const secret = secrets.find((one) => one.certainty === "known" || one.what === PRIVATE_KEY);
  if (secret !== undefined) return { kind: "secret", rule: `holds what looks like ${secret.what}` };
  return { kind: "in", rule };
}

async function head(path: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const handle = await open(path, flags).catch((error: unknown) => {
    if (UNREADABLE.has(errnoOf(error))) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(SCANNED_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, SCANNED_BYTES, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Copies one file to the same place in the snapshot. The snapshot's base may be an agent's branch, which the sources
 * are not at: it can have this very file, or a symbolic link where the file's directory should be.
 *
 * @returns why it cannot be copied, or undefined when it was.
 */
export async function copyInto(
  from: string,
  to: WorkTree,
  path: string,
): Promise<string | undefined> {
  const parts = path.split("/").slice(0, -1);
  for (const [index] of parts.entries()) {
    const directory = parts.slice(0, index + 1).join("/");
    if (seenAt(to, directory) === "other") return IN_BASE;
    await mkdir(join(to.top, directory), { recursive: true });
  }
  if (seenAt(to, path) !== "nothing") return IN_BASE;
  try {
    await copyFile(join(from, path), join(to.top, path), constants.COPYFILE_EXCL);
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return IN_BASE;
    if (UNREADABLE.has(errno)) return `cannot be read (${errno})`;
    throw error;
  }
}
