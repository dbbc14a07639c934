/** Upper bounds on what is accepted from a container. Bytes unless the name says otherwise. */
export const LIMITS = {
  taskIdBytes: 256,
  commitMessageBytes: 64 * 1024,
  manifestBytes: 8 * 1024 * 1024,
  patchFiles: 1000,
  patchBytes: 64 * 1024 * 1024,
  allPatchesBytes: 256 * 1024 * 1024,
  /** Sum of the sizes that `GIT binary patch` sections declare: they inflate far beyond the patch's own size. */
  declaredBinaryBytes: 512 * 1024 * 1024,
  treePaths: 500_000,
  agentLogBytes: 64 * 1024 * 1024,
  agentLineBytes: 1024 * 1024,
} as const;

/** How long a host-side child may take, in milliseconds. */
export const DEADLINES = {
  gitQuickMs: 60_000,
  gitLongMs: 15 * 60_000,
  engineQuickMs: 60_000,
  treehouseMs: 120_000,
  /** From the polite signal to the hard one, for a guest that is exporting what the agent left. */
  guestGraceMs: 60_000,
  salvageMs: 5 * 60_000,
} as const;
