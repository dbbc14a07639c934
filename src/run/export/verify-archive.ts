import type { z } from "zod";
import type { TarEntry } from "../../files/tar.ts";
import type { Git } from "../../git/git.ts";
import { readRef } from "../../git/publish.ts";
import { isTooDeep, parseBounded } from "./bounded-json.ts";
import { type Check, type Outcome, good, mismatch, skipped } from "./check.ts";
import { checkDecision } from "./check-decision.ts";
import { commitsBetween } from "./commits-between.ts";
import { CREATED, IMPORT_REPORT, MANIFEST, PROVENANCE, REVIEW, SPEC } from "./archive-shapes.ts";
import { sha256, specHashOf } from "./provenance.ts";

interface Opened {
  readonly provenance: z.infer<typeof PROVENANCE>;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly git: Git | undefined;
}

const CHECKS: readonly (readonly [
  name: string,
  check: (at: Opened) => Outcome | Promise<Outcome>,
])[] = [
  ["files", checkFiles],
  ["spec", checkSpec],
  ["patches", checkPatches],
  ["import", checkImport],
  ["findings", checkFindings],
  ["decision", checkPromotion],
  ["repository", checkRepository],
];

/**
 * Checks whether an archive agrees with its own provenance, and with the repository where that has the commits. It
 * proves that nothing was changed by accident or in one place alone, not who made the archive.
 *
 * @returns undefined when the entries are not an archive of a run.
 */
export async function verifyArchive(
  entries: readonly TarEntry[],
  git: Git | undefined,
): Promise<{ readonly run: string; readonly checks: readonly Check[] } | undefined> {
  const files = new Map(entries.map(({ name, bytes }) => [name, bytes]));
  const provenance = read(PROVENANCE, files.get("provenance.json"));
  if (provenance === undefined || files.size !== entries.length) return undefined;
  const checks: Check[] = [];
  for (const [name, check] of CHECKS) {
    const outcome = await check({ provenance, files, git });
    checks.push({ name, ...outcome });
    if (outcome.verdict === "mismatch") break;
  }
  return { run: provenance.run, checks };
}

function checkFiles({ provenance, files }: Opened): Outcome {
  const listed = new Set(provenance.files.map((file) => file.name));
  const stray = [...files.keys()].find((name) => name !== "provenance.json" && !listed.has(name));
  if (stray !== undefined) return mismatch(`${stray} is not listed in provenance.json.`);
  for (const { name, sha256: expected } of provenance.files) {
    const bytes = files.get(name);
    if (bytes === undefined) return mismatch(`${name} is missing.`);
    if (sha256(bytes) !== expected) return mismatch(`${name} has not the hash of provenance.json.`);
    if (name.endsWith(".json") && isTooDeep(bytes))
      return mismatch(`${name} is nested deeper than anything that guardloop writes.`);
  }
  return good(`${provenance.files.length} files have the hashes of provenance.json.`);
}

function checkSpec(at: Opened): Outcome {
  if (isRedacted(at, "spec.json")) return skipped("spec.json was redacted.");
  const bytes = at.files.get("spec.json");
  const spec = read(SPEC, bytes);
  if (spec === undefined) return skipped("The run came to no spec.");
  const { specHash, promptHash } = at.provenance;
  if (specHashOf(parseBounded(bytes)) !== specHash)
    return mismatch("spec.json has not the hash of the journal.");
  if (sha256(spec.prompt) !== promptHash) return mismatch("The prompt has another hash.");
  const created = read(CREATED, firstLine(at.files.get("events.jsonl")));
  if (!isRedacted(at, "events.jsonl") && created?.event.specHash !== specHash)
    return mismatch("events.jsonl speaks of another spec.");
  return good("spec.json and the prompt have the hashes of the journal.");
}

function checkPatches(at: Opened): Outcome {
  const directory = "artifacts/patches/";
  const there = [...at.files.keys()].filter((name) => name.startsWith(directory));
  const { patches } = at.provenance;
  if (there.length !== patches.length) return mismatch("The number of patches is another.");
  const changed = patches.filter(({ file }) => isRedacted(at, directory + file));
  for (const { file, sha256: expected } of patches) {
    const bytes = at.files.get(directory + file);
    if (bytes === undefined) return mismatch(`${directory}${file} is missing.`);
    if (!isRedacted(at, directory + file) && sha256(bytes) !== expected)
      return mismatch(`${directory}${file} is not the patch of the run.`);
  }
  if (changed.length > 0) return skipped(`${changed.length} of the patches were redacted.`);
  return patches.length === 0
    ? skipped("The run left no patch.")
    : good(`All ${patches.length} are those of the run.`);
}

/** The guest's manifest names the patches and the last tree; the import had to come to the same. */
function checkImport(at: Opened): Outcome {
  const { imported, patches } = at.provenance;
  if (imported === null) return skipped("Nothing was imported.");
  const report = read(IMPORT_REPORT, at.files.get("import.json"));
  if (report?.head !== imported.head || report.tree !== imported.tree)
    return mismatch("import.json speaks of another commit or tree.");
  const manifest = read(MANIFEST, at.files.get("artifacts/manifest.json"));
  if (manifest?.finalTree !== imported.tree)
    return mismatch("The patches lead to another tree than the imported one.");
  const named = manifest.patches;
  if (named.map((one) => one.file).join("\n") !== patches.map((one) => one.file).join("\n"))
    return mismatch("The manifest names other patches.");
  const wrong = imported.commits.findIndex((one, index) => one.tree !== named[index]?.tree);
  if (wrong !== -1) return mismatch(`Commit ${imported.commits[wrong]?.commit} has another tree.`);
  return good(`The patches lead to the imported tree ${imported.tree.slice(0, 12)}.`);
}

function checkFindings(at: Opened): Outcome {
  if (at.provenance.findingsHash === null) return skipped("There was no review.");
  if (isRedacted(at, "review.json")) return skipped("review.json was redacted.");
  const review = read(REVIEW, at.files.get("review.json"));
  if (sha256(JSON.stringify(review?.findings ?? null)) !== at.provenance.findingsHash)
    return mismatch("review.json has other findings.");
  return good("review.json has the findings of provenance.json.");
}

async function checkRepository({ provenance, git }: Opened): Promise<Outcome> {
  const { imported, base } = provenance;
  if (imported === null) return skipped("Nothing was imported.");
  if (git === undefined) return skipped("This is not a Git repository.");
  if (![imported.head, base].every((id) => /^[0-9a-f]{40,64}$/.test(id)))
    return mismatch("provenance.json names something that is no commit.");
  const commits = await commitsBetween(git, base, imported.head);
  if (commits === undefined) return skipped("The commits are not in this repository.");
  if (commits.at(-1)?.tree !== imported.tree)
    return mismatch(`Commit ${imported.head} has not the imported tree here.`);
  if (imported.commits.length > 0 && JSON.stringify(commits) !== JSON.stringify(imported.commits))
    return mismatch("The commits here are not those of provenance.json.");
  const tip = await readRef(git, `refs/heads/${imported.branch}`);
  if (tip === undefined)
    return good(`All ${commits.length} commits with their trees agree; the branch is not here.`);
  if (tip !== imported.head)
    return mismatch(`${imported.branch} is at ${tip} here, not at ${imported.head}.`);
  return good(
    `All ${commits.length} commits with their trees agree, and so does ${imported.branch}.`,
  );
}

function isRedacted({ provenance }: Opened, name: string): boolean {
  return provenance.files.some((file) => file.name === name && file.content === "redacted");
}

function checkPromotion(at: Opened): Promise<Outcome> {
  const lines = at.files.get("events.jsonl")?.toString("utf8").split("\n") ?? [];
  const events = isRedacted(at, "events.jsonl")
    ? undefined
    : lines.map((line) => parseBounded(Buffer.from(line)));
  return checkDecision({ provenance: at.provenance, events, git: at.git });
}

function firstLine(bytes: Buffer | undefined): Buffer | undefined {
  const end = bytes?.indexOf(0x0a) ?? -1;
  return end === -1 ? bytes : bytes?.subarray(0, end);
}

function read<Shape extends z.ZodType>(
  shape: Shape,
  bytes: Buffer | undefined,
): z.infer<Shape> | undefined {
  return shape.safeParse(parseBounded(bytes)).data;
}
