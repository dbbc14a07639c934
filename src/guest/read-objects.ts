import { type Git, must } from "./git.ts";

/** Behind each object: a line feed; before it: its id, its type and its size. */
const ROW_BYTES = 128;

/**
 * Reads objects with two starts of Git, whatever their number: one for the sizes, one for what is not too large.
 *
 * @returns one answer for each id, in this order; undefined for one that is missing or has more than `limitBytes`.
 */
export async function readObjects(
  git: Git,
  ids: readonly string[],
  limitBytes: number,
): Promise<readonly (Buffer | undefined)[]> {
  const sizes = await sizesOf(git, ids);
  const small = ids.filter((_, index) => (sizes[index] ?? Infinity) <= limitBytes);
  const bytes = sizes.reduce((sum: number, size = 0) => sum + (size <= limitBytes ? size : 0), 0);
  const output = await must(git, ["cat-file", "--batch"], {
    stdin: lines(small),
    maxOutputBytes: bytes + small.length * ROW_BYTES,
  });
  let at = 0;
  return sizes.map((size) => {
    if (size === undefined || size > limitBytes) return undefined;
    const start = output.indexOf("\n", at) + 1;
    at = start + size + 1;
    return output.subarray(start, start + size);
  });
}

async function sizesOf(git: Git, ids: readonly string[]): Promise<readonly (number | undefined)[]> {
  const output = await must(git, ["cat-file", "--batch-check=%(objectsize)"], {
    stdin: lines(ids),
  });
  const rows = output.toString("latin1").split("\n");
  return ids.map((_, index) => (/^\d+$/.test(rows[index] ?? "") ? Number(rows[index]) : undefined));
}

function lines(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join("");
}
