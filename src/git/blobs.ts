import type { Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Git, gitOutput } from "./git.ts";

const NO_BLOB = /^0+$/;

/**
 * Sizes of blobs in bytes by id; ids of nothing but zeros are passed over, and so are objects that are not there.
 * Nothing is inflated: Git reads the objects' headers.
 */
export async function blobSizes(
  git: Git,
  blobs: readonly string[],
): Promise<Result<ReadonlyMap<string, number>, Failure>> {
  const wanted = [...new Set(blobs)].filter((blob) => !NO_BLOB.test(blob));
  if (wanted.length === 0) return ok(new Map());
  const output = await gitOutput(git, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], {
    stdin: `${wanted.join("\n")}\n`,
  });
  if (!output.ok) return output;
  const rows = output.value.toString("utf8").trim().split("\n");
  return ok(
    new Map(
      rows.map((row) => {
        const [blob = "", size = "0"] = row.split(" ");
        return [blob, Number(size) || 0];
      }),
    ),
  );
}

/** Contents of small blobs by id, read in one go. The caller knows their sizes, and that they are not large together. */
export async function readBlobs(
  git: Git,
  blobs: readonly string[],
): Promise<Result<ReadonlyMap<string, Buffer>, Failure>> {
  const wanted = [...new Set(blobs)].filter((blob) => !NO_BLOB.test(blob));
  if (wanted.length === 0) return ok(new Map());
  const output = await gitOutput(git, ["cat-file", "--batch=%(objectname) %(objectsize)"], {
    stdin: `${wanted.join("\n")}\n`,
    maxOutputBytes: 256 * 1024 * 1024,
  });
  if (!output.ok) return output;
  return ok(parseBatch(output.value));
}

/** Each object: `ID SIZE`, a line feed, the content, a line feed. */
function parseBatch(bytes: Buffer): ReadonlyMap<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf("\n", at);
    if (feed === -1) break;
    const [blob = "", size = ""] = bytes.toString("latin1", at, feed).split(" ");
    const length = /^\d+$/.test(size) ? Number(size) : 0;
    const start = feed + 1;
    if (/^\d+$/.test(size)) contents.set(blob, bytes.subarray(start, start + length));
    // An object that is not there has a line of its own and no content.
    at = /^\d+$/.test(size) ? start + length + 1 : start;
  }
  return contents;
}
