import { access } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../core/failures.ts";
import { DEADLINES } from "../core/limits.ts";
import { type Result, ok } from "../core/result.ts";
import type { AgentRef } from "./agent-refs.ts";
import { gitOutput, gitText } from "./git.ts";
import type { Principal, RepositoryFormat } from "./principal.ts";

/** At most so many files of a dirty checkout are shown. */
const SHOWN_FILES = 20;

/** Files and directories in a Git directory that say an operation is not finished. */
const UNDER_WAY: Readonly<Record<string, string>> = {
  MERGE_HEAD: "a merge",
  "rebase-merge": "a rebase",
  "rebase-apply": "a rebase or am",
  CHERRY_PICK_HEAD: "a cherry-pick",
  REVERT_HEAD: "a revert",
  BISECT_LOG: "a bisect",
  // Between two commits of a series there is nothing but the list of what is still to do.
  sequencer: "a cherry-pick or revert of several commits",
};

/** To be asked before where HEAD is: a rebase and a bisect detach it, which is not what the person has to hear. */
export async function refuseOperationUnderWay(
  principal: Principal,
): Promise<Result<void, Failure>> {
  for (const [file, operation] of Object.entries(UNDER_WAY)) {
    const there = await access(join(principal.gitDir, file)).then(
      () => true,
      () => false,
    );
    if (there)
      return fail("operation-under-way", `In ${principal.topLevel}, ${operation} is not finished.`);
  }
  return ok(undefined);
}

/** Refuses tracked changes and untracked files that are not ignored; the user's ignore rules count. */
export async function refuseDirty(principal: Principal): Promise<Result<void, Failure>> {
  // Flags against the user's own status.* settings, which could hide what we must see.
  const args = [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=normal",
    "--ignore-submodules=none",
    "--no-renames",
  ];
  const status = await gitOutput(principal.git, args, {
    maxOutputBytes: 256 * 1024 * 1024,
    deadlineMs: DEADLINES.gitLongMs,
  });
  if (!status.ok) return status;
  const entries = status.value
    .toString("utf8")
    .split("\0")
    .filter((entry) => entry !== "");
  if (entries.length === 0) return ok(undefined);
  const more = entries.length - SHOWN_FILES;
  return fail(
    "dirty-checkout",
    `The principal checkout ${principal.topLevel} has ${entries.length} uncommitted ${entries.length === 1 ? "change" : "changes"}.`,
    { details: [...entries.slice(0, SHOWN_FILES), ...(more > 0 ? [`… and ${more} more`] : [])] },
  );
}

const IN_THE_WAY = "refs/heads/agent";

/**
 * A branch named `agent` is a file where `agent/…` needs a directory.
 *
 * @param refs those at and below `refs/heads/agent`, where they were asked for just now.
 */
export async function refuseAgentBranch(
  { git }: Principal,
  refs?: Promise<Result<readonly AgentRef[], Failure>>,
): Promise<Result<void, Failure>> {
  const listed = await refs;
  const isThere =
    listed?.ok === true
      ? listed.value.some(({ ref }) => ref === IN_THE_WAY)
      : (await git.exec(["show-ref", "--verify", "--quiet", IN_THE_WAY])).code === 0;
  if (isThere) return fail("agent-branch-blocked", "The repository has a branch named `agent`.");
  return ok(undefined);
}

/** Refuses by name what would only half work: each of these needs a decision of its own. */
export async function refuseUnsupported(
  principal: Principal,
  base: string,
  seen?: RepositoryFormat,
): Promise<Result<void, Failure>> {
  const [format, keys, tree] = await Promise.all([
    seen === undefined ? formatOf(principal) : ok(seen),
    principal.git.tellingKeys(),
    refuseUnsupportedTree(principal, base),
  ]);
  if (!format.ok) return format;
  const { isShallow, objectFormat } = format.value;
  if (isShallow)
    return unsupported(
      "The repository is shallow: its history is cut off.",
      "Run `git fetch --unshallow`.",
    );
  if (objectFormat !== "sha1")
    return unsupported(
      `The repository uses ${objectFormat} object ids.`,
      "Use a SHA-1 repository.",
    );
  if (keys.some((key) => /^(?:extensions\.partialclone|remote\..*\.promisor)$/.test(key)))
    return unsupported(
      "The repository is a partial clone: some objects are only on the remote.",
      "Clone it again without --filter.",
    );
  return tree;
}

async function formatOf({ git }: Principal): Promise<Result<RepositoryFormat, Failure>> {
  const facts = await gitText(git, [
    "rev-parse",
    "--is-shallow-repository",
    "--show-object-format",
  ]);
  if (!facts.ok) return facts;
  const [shallow, objectFormat = "unknown"] = facts.value.split("\n");
  return ok({ isShallow: shallow === "true", objectFormat });
}

async function refuseUnsupportedTree(
  principal: Principal,
  base: string,
): Promise<Result<void, Failure>> {
  const tree = await gitOutput(principal.git, ["ls-tree", "-r", "-z", "--full-tree", base], {
    maxOutputBytes: 256 * 1024 * 1024,
  });
  if (!tree.ok) return tree;
  const attributes: string[] = [];
  for (const entry of tree.value.toString("latin1").split("\0")) {
    const [meta, path] = entry.split("\t");
    if (meta === undefined || path === undefined) continue;
    if (meta.startsWith("160000"))
      return unsupported(
        `${path} is a submodule, whose content would be missing in the container.`,
        "Run guardloop in a repository without submodules.",
      );
    if (path === ".gitattributes" || path.endsWith("/.gitattributes")) attributes.push(path);
  }
  return refuseLfs(principal, base, attributes);
}

async function refuseLfs(
  principal: Principal,
  base: string,
  attributes: readonly string[],
): Promise<Result<void, Failure>> {
  for (const path of attributes) {
    const text = await gitText(principal.git, ["cat-file", "blob", `${base}:${path}`]);
    if (text.ok && /^[^#\n]*\sfilter=lfs(\s|$)/m.test(text.value))
      return unsupported(
        `${path} sends files through Git LFS, whose content would be missing in the container.`,
        "Run guardloop in a repository without Git LFS.",
      );
  }
  return ok(undefined);
}

function unsupported(message: string, cure: string): Result<never, Failure> {
  return fail("unsupported-repository", message, { cure });
}
