import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { blobSizes, readBlobs } from "./blobs.ts";
import { type Git, gitOutput } from "./git.ts";

export const LINK_MODE = "120000";

const LINK_TARGET_BYTES = 4096;
/** Stands for a target that no system takes; as an absolute path it counts as one that leads out of the tree. */
const UNREADABLE_TARGET = "/(too long to be a path)";

/** Where symbolic links point, by blob id. Every asked id is answered. */
export async function linkTargets(
  git: Git,
  blobs: readonly string[],
): Promise<Result<ReadonlyMap<string, string>, Failure>> {
  const sizes = await blobSizes(git, blobs);
  if (!sizes.ok) return sizes;
  const small = blobs.filter((blob) => (sizes.value.get(blob) ?? 0) <= LINK_TARGET_BYTES);
  const read = await readBlobs(git, small);
  if (!read.ok) return read;
  return ok(
    new Map(
      blobs.map((blob) => [blob, read.value.get(blob)?.toString("utf8") ?? UNREADABLE_TARGET]),
    ),
  );
}

/** Every symbolic link of a commit's tree: path to target. A path that is not UTF-8 has one character a byte. */
export async function linksOf(
  git: Git,
  commit: string,
): Promise<Result<ReadonlyMap<string, string>, Failure>> {
  const listed = await gitOutput(git, ["ls-tree", "-r", "-z", "--full-tree", commit], {
    maxOutputBytes: 256 * 1024 * 1024,
  });
  if (!listed.ok) return listed;
  const links: { readonly path: string; readonly blob: string }[] = [];
  for (const row of listed.value.toString("latin1").split("\0")) {
    const [, blob, path] = /^120000 blob ([0-9a-f]+)\t(.+)$/s.exec(row) ?? [];
    if (blob !== undefined && path !== undefined) links.push({ path: decoded(path), blob });
  }
  const targets = await linkTargets(
    git,
    links.map(({ blob }) => blob),
  );
  if (!targets.ok) return targets;
  return ok(new Map(links.map(({ path, blob }) => [path, targets.value.get(blob) ?? ""])));
}

/** As UTF-8 where it is, else one character a byte. */
function decoded(latin1: string): string {
  const bytes = Buffer.from(latin1, "latin1");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : latin1;
}
