/** Upper bounds on what is accepted from a container. Bytes unless the name says otherwise. */
export const LIMITS = {
  taskIdBytes: 256,
  commitMessageBytes: 64 * 1024,
  manifestBytes: 8 * 1024 * 1024,
  /** Commits that come back one by one; the guest makes one patch of more. */
  commits: 1000,
  /** One for each commit, and one for what was left uncommitted. */
  patchFiles: 1001,
  patchBytes: 64 * 1024 * 1024,
  allPatchesBytes: 256 * 1024 * 1024,
  /**
   * Sum of the sizes that the `GIT binary patch` sections of one patch declare: they inflate far beyond the patch's
   * own size.
   */
  declaredBinaryBytes: 512 * 1024 * 1024,
  /** The same over all patches of a series. */
  allDeclaredBinaryBytes: 1024 * 1024 * 1024,
  /** One line of a patch. */
  patchLineBytes: 32 * 1024 * 1024,
  /** Lines that the patches of a series add, together. */
  allAddedTextBytes: 128 * 1024 * 1024,
  /** Paths that one patch touches. */
  patchPaths: 50_000,
  /** The same over all patches of a series; a path that two patches touch counts twice. */
  allPatchPaths: 100_000,
  /** Paths of an imported tree, directories too. A repository that has more of its own cannot be imported into. */
  treePaths: 2_000_000,
  /** One component of a new path: what Linux file systems take. */
  pathComponentBytes: 255,
  /** A whole new path: PATH_MAX of Linux. */
  pathBytes: 4096,
  pathDepth: 256,
  /** A new or changed blob. */
  blobBytes: 512 * 1024 * 1024,
  /** New and changed blobs of a series, together. */
  allBlobBytes: 1024 * 1024 * 1024,
  /** A line of .gitattributes: Git itself ignores longer ones since 2.39.1 (CVE-2022-23521). */
  attributesLineBytes: 2048,
  gitmodulesBytes: 1024 * 1024,
  agentLogBytes: 64 * 1024 * 1024,
  agentLineBytes: 1024 * 1024,
  /** A line is about 500 bytes, so this is some 30,000 requests. */
  egressLogBytes: 16 * 1024 * 1024,
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

/**
 * What the kernel lets a Git child have that works on what came out of a container. Git maps the user's packs, so its
 * address space is more than its memory: windows of packs take 512 MiB at most (see `PACK_WINDOWS` in git/bounds.ts),
 * pack indexes are mapped whole (about 35 bytes an object, so 1 GiB for 30 million), and the largest blob that is let
 * through takes twice its size. Files are up to a pack of all new blobs.
 */
export const GIT_BOUNDS = {
  addressSpaceBytes: 4 * 1024 * 1024 * 1024,
  fileBytes: 2 * 1024 * 1024 * 1024,
  cpuSeconds: 15 * 60,
} as const;
