import { z } from "zod";

/** What `verify` relies on of an archive that anybody may have made; keys besides these are left alone. */
const COMMIT = z.object({ commit: z.string(), tree: z.string() });

const MOVE = {
  before: z.string(),
  after: z.string(),
  by: z.string(),
  why: z.string(),
  commits: z.array(COMMIT),
};

export const PROVENANCE = z.object({
  version: z.literal(1),
  run: z.string(),
  base: z.string(),
  specHash: z.string(),
  promptHash: z.string(),
  patches: z.array(z.object({ file: z.string(), sha256: z.string() })),
  imported: z
    .object({ branch: z.string(), head: z.string(), tree: z.string(), commits: z.array(COMMIT) })
    .nullable(),
  findingsHash: z.string().nullable(),
  /** Archives of 0.1 say less of a promotion than can be checked. */
  decision: z
    .object({
      promotion: z
        .object({
          how: z.enum(["fast-forward", "rebase", "squash"]),
          accepted: z.array(z.string()),
          withoutValidation: z.string().nullable(),
          ...MOVE,
        })
        .nullable(),
      rollback: z.object({ how: z.enum(["reset", "revert"]), ...MOVE }).nullable(),
    })
    .optional()
    .catch(undefined),
  files: z.array(
    z.object({ name: z.string(), sha256: z.string(), content: z.enum(["whole", "redacted"]) }),
  ),
});

export const SPEC = z.object({ prompt: z.string() });
export const CREATED = z.object({ event: z.object({ specHash: z.string() }) });
const event = (type: string) => z.object({ event: z.looseObject({ type: z.literal(type) }) });
export const PROMOTED = event("run-promoted");
export const ROLLED_BACK = event("run-rolled-back");
export const IMPORT_REPORT = z.object({ head: z.string(), tree: z.string() });
export const MANIFEST = z.object({
  finalTree: z.string(),
  patches: z.array(z.object({ file: z.string(), tree: z.string() })),
});
export const REVIEW = z.object({ findings: z.unknown() });
