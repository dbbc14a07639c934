import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HostEnvironment } from "../core/environment.ts";
import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES, GIT_BOUNDS } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import type { Bounds, Exit } from "../process/command.ts";
import { boundHit, withBounds } from "./bounds.ts";
import { type Git, gitFailure, gitOutput, gitText, sealedGit } from "./git.ts";
import { withTrailers } from "./with-trailers.ts";

/** A bare repository of our own in which untrusted patches become trees and commits, within bounds. */
export interface Quarantine {
  readonly git: Git;
  readonly dir: string;
  readonly indexFile: string;
}

/** As `git init --bare` writes it; see gitrepository-layout(5). */
const CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

/**
 * Makes a quarantine whose objects are its own, with the principal's as read-only alternate. Written by hand: there is
 * little in it. May be called again for one that is there.
 *
 * @param objectsDir the principal's object directory.
 */
export async function makeQuarantine(options: {
  readonly program: string;
  readonly env: HostEnvironment;
  readonly dir: string;
  readonly objectsDir: string;
  readonly bounds?: Bounds;
}): Promise<Quarantine> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const at = (name: string): string => join(options.dir, name);
  for (const name of ["objects/info", "objects/pack", "refs"])
    await mkdir(at(name), { recursive: true });
  await writeFile(at("HEAD"), "ref: refs/heads/import\n");
  await writeFile(at("config"), CONFIG);
  await writeFile(at("objects/info/alternates"), `${options.objectsDir}\n`);
  const sealed = sealedGit(options.program, options.env, options.dir);
  const git = withBounds(sealed, options.bounds ?? GIT_BOUNDS);
  return { git, dir: options.dir, indexFile: at("import-index") };
}

export async function startAt(
  quarantine: Quarantine,
  commit: string,
): Promise<Result<void, Failure>> {
  const read = await gitOutput(quarantine.git, ["read-tree", commit], {
    indexFile: quarantine.indexFile,
    deadlineMs: DEADLINES.gitLongMs,
  });
  return read.ok ? ok(undefined) : read;
}

/**
 * Applies one mail to the quarantine's index: mailsplit must find exactly one mail, mailinfo separates the diff,
 * apply works on the index alone, so no filter, hook or link of a work tree is met. The mail's own message and author
 * are not used: mail formats mangle them (they come from the manifest).
 *
 * @returns the tree after the patch.
 */
export async function applyMail(
  quarantine: Quarantine,
  mail: Buffer,
  name: string,
): Promise<Result<string, Failure>> {
  const split = join(quarantine.dir, "mail", name);
  await mkdir(split, { recursive: true });
  const mailFile = join(split, "mail");
  await writeFile(mailFile, mail);
  const parts = await quarantine.git.exec([
    "mailsplit",
    "-d4",
    "--keep-cr",
    `-o${split}`,
    "--",
    mailFile,
  ]);
  const splitFits = refuseExcess(parts, name);
  if (!splitFits.ok) return splitFits;
  if (parts.code !== 0 || parts.stdout.toString("utf8").trim() !== "1")
    return fail("bad-patches", `patches/${name} does not hold exactly one mail.`);
  const info = await quarantine.git.exec(
    [
      "mailinfo",
      "-k",
      "--no-scissors",
      "--quoted-cr=nowarn",
      "--encoding=UTF-8",
      join(split, "message"),
      join(split, "diff"),
    ],
    { stdin: mail },
  );
  const infoFits = refuseExcess(info, name);
  if (!infoFits.ok) return infoFits;
  if (info.code !== 0)
    return fail("bad-patches", `patches/${name} is not a mail that Git can read.`);
  return applyDiff(quarantine, join(split, "diff"), name);
}

async function applyDiff(
  quarantine: Quarantine,
  diffFile: string,
  name: string,
): Promise<Result<string, Failure>> {
  const args = ["apply", "--cached", "--whitespace=nowarn", "--allow-empty", "--", diffFile];
  const applied = await quarantine.git.exec(args, {
    indexFile: quarantine.indexFile,
    deadlineMs: DEADLINES.gitLongMs,
  });
  const applyFits = refuseExcess(applied, name);
  if (!applyFits.ok) return applyFits;
  if (applied.code !== 0) {
    const why = gitFailure(args, applied);
    return fail(
      "import-refused",
      `patches/${name} does not apply: ${why.details[0] ?? why.message}`,
      {
        details: why.details,
      },
    );
  }
  return gitText(quarantine.git, ["write-tree"], { indexFile: quarantine.indexFile });
}

/** Says so where a bound of the child's resources ended it, rather than the patch's own faults. */
function refuseExcess(exit: Exit, name: string): Result<void, Failure> {
  const hit = boundHit(exit);
  if (hit !== undefined)
    return fail("import-refused", `Applying patches/${name} needed more than ${hit}.`);
  if (exit.ended === "deadline")
    return fail("import-refused", `Applying patches/${name} took too long and was ended.`);
  return ok(undefined);
}

export interface CommitRequest {
  readonly tree: string;
  readonly parent: string;
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string; readonly date: string };
  readonly committer: { readonly name: string; readonly email: string; readonly date: string };
  readonly trailers: readonly string[];
}

/** Makes a commit from a verified tree. Deterministic: the same request gives the same id. */
export async function commitTree(
  quarantine: Quarantine,
  request: CommitRequest,
): Promise<Result<string, Failure>> {
  return gitText(quarantine.git, ["commit-tree", request.tree, "-p", request.parent], {
    stdin: withTrailers(request.message, request.trailers),
    identity: {
      GIT_AUTHOR_NAME: request.author.name,
      GIT_AUTHOR_EMAIL: request.author.email,
      GIT_AUTHOR_DATE: `@${request.author.date}`,
      GIT_COMMITTER_NAME: request.committer.name,
      GIT_COMMITTER_EMAIL: request.committer.email,
      GIT_COMMITTER_DATE: `@${request.committer.date}`,
    },
  });
}
