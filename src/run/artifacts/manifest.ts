import { z } from "zod";
import type { Manifest } from "../../core/artifacts.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { LIMITS } from "../../core/limits.ts";
import { once } from "../../core/once.ts";
import { type Result, ok } from "../../core/result.ts";

/** The shape of manifest.json. */
const schema = once(() => {
  const OBJECT_ID = z.string().regex(/^[0-9a-f]{40}$/);
  const LINE = z.string().max(1024);

  const COUNT = z.number().int().min(0);

  const IDENTITY = z.object({
    name: LINE,
    email: LINE,
    date: z.string().regex(/^-?\d{1,19} [+-]\d{4}$/),
  });

  return z.object({
    version: z.literal(1),
    base: OBJECT_ID,
    patches: z
      .array(
        z.object({
          file: z.string().max(200),
          commit: OBJECT_ID,
          tree: OBJECT_ID,
          author: IDENTITY,
          // Longer than the guest would write: what is over the limit is cut, and said.
          message: z.string().max(LIMITS.manifestBytes),
        }),
      )
      .max(LIMITS.patchFiles),
    finalTree: OBJECT_ID,
    history: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("linear") }),
      z.object({ kind: z.literal("flattened"), reason: LINE, commits: z.number().int().min(0) }),
    ]),
    committedLeftovers: z.boolean(),
    ignoredLeftBehind: z.object({
      total: z.number().int().min(0),
      names: z.array(z.string().max(4096)).max(1000),
    }),
    agent: z.object({
      outcome: z.enum(["exited", "signalled", "not-started", "stopped", "not-run"]),
      exitCode: z.number().int().nullable(),
      signal: z.string().max(32).nullable(),
    }),
    resumed: z.object({ reminders: COUNT, afterLimits: COUNT }).optional(),
    limitsHit: z.object({ memory: COUNT.nullable(), processes: COUNT.nullable() }).optional(),
    versions: z.object({ guest: LINE, node: LINE, git: LINE, agent: LINE.optional() }),
  }) satisfies z.ZodType<Manifest>;
});

/** Reads manifest.json as untrusted input: known shape, bounded sizes; unknown keys are dropped. */
export function parseManifest(bytes: Buffer | undefined): Result<Manifest, Failure> {
  if (bytes === undefined)
    return fail("bad-manifest", "The artifact manifest.json is missing: the export did not end.");
  let value: unknown;
  try {
    // Strict: a byte that is not UTF-8 would quietly become another letter of a message or a name.
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return fail("bad-manifest", "The artifact manifest.json is not JSON in UTF-8.");
  }
  const manifest = schema().safeParse(value);
  if (manifest.success) return ok(manifest.data);
  const issue = manifest.error.issues[0];
  return fail(
    "bad-manifest",
    `The artifact manifest.json is not as agreed at ${issue?.path.join(".") ?? "?"}: ${issue?.message ?? "?"}.`,
  );
}
