import { createHash } from "node:crypto";
import picomatch from "picomatch";
import type { Settings } from "../../config/settings.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { SetupSpec } from "../../core/run-spec.ts";
import type { Git } from "../../git/git.ts";
import { type ListedFile, listFiles } from "../../git/list-files.ts";

/** A part of the key, so that results of another way of keeping them are not taken. */
const FORM = 1;

/**
 * The setup phase of an invocation's runs, from the settings and the lockfiles at the principal HEAD. Branches of agents
 * have no part in it, also where a run begins at one.
 *
 * @param at the principal repository and its HEAD, and the id of the image.
 * @returns undefined where no commands are set.
 */
export async function setupSpec(
  { setup, cache }: Pick<Settings, "setup" | "cache">,
  at: { readonly git: Git; readonly head: string; readonly imageId: string },
): Promise<Result<SetupSpec | undefined, Failure>> {
  if (setup.commands.length === 0) return ok(undefined);
  const listed = await listFiles(at.git, at.head);
  if (!listed.ok) return listed;
  const { commands, allowHosts, lockfiles, keep, minutes } = setup;
  const caches = outermost(cache.directories);
  const decided = { commands, allowHosts, lockfiles, keep, caches };
  const files = matching(listed.value, lockfiles);
  const key = createHash("sha256")
    .update(JSON.stringify({ form: FORM, image: at.imageId, ...decided, files }))
    .digest("hex");
  return ok({ ...decided, limitMs: Math.round(minutes * 60_000), key });
}

/** The files of a commit that one of the globs names. */
export function matching(
  files: readonly ListedFile[],
  globs: readonly string[],
): readonly ListedFile[] {
  const isNamed = lockfileMatcher(globs);
  return files.filter(({ path }) => isNamed(path));
}

export function lockfileMatcher(globs: readonly string[]): (path: string) => boolean {
  return globs.length === 0 ? () => false : picomatch([...globs], { dot: true });
}

/** A directory below another one that is kept anyway would be mounted into it a second time. */
function outermost(directories: readonly string[]): readonly string[] {
  const all = [...new Set(directories)];
  return all.filter((one) => !all.some((other) => one.startsWith(`${other}/`)));
}
