import { type Git, gitError } from "./git.ts";

/** Longer than any line that git-cat-file(1) prints before an object: id, type and size. */
const HEADER_BYTES = 200;

/**
 * Reads objects with one start of Git, whatever their number. Ends Git at the first one that is missing or has more than
 * `limitBytes`, so that no more than what is wanted comes through, and is held.
 *
 * @returns one answer for each id, in this order; undefined for that one and all behind it.
 */
export async function readObjects(
  git: Git,
  ids: readonly string[],
  limitBytes: number,
): Promise<readonly (Buffer | undefined)[]> {
  const reader = objectReader(limitBytes);
  const args = ["cat-file", "--batch"];
  const stdin = ids.map((id) => `${id}\n`).join("");
  const end = await git(args, { stdin, stdout: reader.take });
  if (end.code !== 0 && reader.state() !== "stopped") throw gitError(args, end);
  const objects = reader.objects();
  return ids.map((_, index) => objects[index]);
}

interface ObjectReader {
  /** @returns `enough` when no more is wanted. */
  readonly take: (chunk: Buffer) => "enough" | undefined;
  readonly state: () => "reading" | "stopped";
  readonly objects: () => readonly Buffer[];
}

function objectReader(limitBytes: number): ObjectReader {
  const objects: Buffer[] = [];
  let state: "reading" | "stopped" = "reading";
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** Until so much is there, there is nothing to look at. */
  let wantedBytes = 0;
  const look = (bytes: Buffer): Buffer => {
    let rest = bytes;
    while (state === "reading") {
      const end = rest.subarray(0, HEADER_BYTES).indexOf("\n");
      if (end < 0 && rest.length < HEADER_BYTES) break;
      const size = /^[0-9a-f]+ [a-z]+ (\d+)$/.exec(rest.toString("latin1", 0, Math.max(end, 0)));
      const sizeBytes = size === null ? Infinity : Number(size[1]);
      if (sizeBytes > limitBytes) {
        state = "stopped";
        break;
      }
      // A line feed stands behind the object.
      wantedBytes = end + 1 + sizeBytes + 1;
      if (rest.length < wantedBytes) return rest;
      objects.push(rest.subarray(end + 1, wantedBytes - 1));
      rest = rest.subarray(wantedBytes);
      wantedBytes = 0;
    }
    return rest;
  };
  return {
    take(chunk) {
      if (state === "stopped") return "enough";
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes < wantedBytes) return undefined;
      const rest = look(Buffer.concat(held));
      held = [rest];
      heldBytes = rest.length;
      return state === "reading" ? undefined : "enough";
    },
    state: () => state,
    objects: () => objects,
  };
}
