import { readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { SetupSpec } from "../../core/run-spec.ts";
import { type SetupPlace, cacheDirectory, resultDirectory } from "./setup-place.ts";

/** What stands in manifest.json beside a result's tree; written by the host. */
const MANIFEST = z.object({
  version: z.literal(1),
  key: z.string(),
  /** ISO 8601, UTC. */
  madeAt: z.string(),
  run: z.string(),
  image: z.object({ name: z.string(), id: z.string() }),
  /** The commit whose files the commands saw. */
  commit: z.string(),
  commands: z.array(z.string()),
  allowHosts: z.array(z.string()),
  keep: z.array(z.string()),
  caches: z.array(z.string()),
  /** With the ids of their contents. */
  lockfiles: z.array(z.object({ path: z.string(), blob: z.string() })),
  files: z.number(),
  links: z.number(),
  bytes: z.number(),
  /**
   * The topmost paths that are not the repository's: a directory, with a slash at its end, stands for everything below.
   */
  tops: z.array(z.string()),
  /** Whom all of the tree belongs to; missing in older results, whose files are whoever's called guardloop. */
  owner: z.object({ uid: z.number(), gid: z.number() }).optional(),
  leftOut: z.object({
    total: z.number(),
    some: z.array(z.object({ path: z.string(), why: z.string() })),
  }),
});
export type SetupManifest = z.infer<typeof MANIFEST>;

export interface SetupResult {
  readonly tree: string;
  readonly manifest: SetupManifest;
}

/** Undefined where there is no finished result of this key. */
export async function findResult(
  place: SetupPlace,
  spec: Pick<SetupSpec, "key">,
): Promise<SetupResult | undefined> {
  const directory = resultDirectory(place, spec);
  const text = await readFile(join(directory, "manifest.json"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const manifest = MANIFEST.safeParse(JSON.parse(text));
  return manifest.success ? { tree: join(directory, "tree"), manifest: manifest.data } : undefined;
}

/** Remembers that a result and its caches are in use now, so that `gc` leaves them. What is gone is passed over. */
export async function touchUsed(place: SetupPlace, spec: SetupSpec, now: Date): Promise<void> {
  const caches = spec.caches.map((name) => cacheDirectory(place, name));
  for (const path of [resultDirectory(place, spec), ...caches])
    await utimes(path, now, now).catch(() => undefined);
}
