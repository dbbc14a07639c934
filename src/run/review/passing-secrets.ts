import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { addedLines } from "../../git/added-lines.ts";
import type { Git } from "../../git/git.ts";
import type { ReviewFacts, SecretSeen } from "../../policy/facts.ts";
import { type SecretFacts, gatherSecrets } from "./secret-facts.ts";
import type { SecretsInUse } from "./secrets-in-use.ts";

const MOST_COMMITS = 100;

/**
 * Credentials that one commit of the branch adds and a later one takes out again. The branch's files do not have them,
 * but its history does, and lands with it.
 *
 * @param standing what was found in the files as they are at the end; not told again.
 */
export async function passingSecrets(
  git: Git,
  commits: ReviewFacts["messages"],
  { inUse, standing }: { readonly inUse: SecretsInUse; readonly standing: SecretFacts },
): Promise<Result<SecretFacts, Failure>> {
  const secrets: SecretSeen[] = [];
  const secretsInUse: SecretSeen[] = [];
  const known = new Set([...standing.secrets, ...standing.secretsInUse].map(keyOf));
  // With one commit there is nothing between its parent and the end.
  const searched = commits.length > 1 ? commits.slice(0, MOST_COMMITS) : [];
  for (const { commit } of searched) {
    const added = await addedLines(git, `${commit}^`, commit);
    if (!added.ok) return added;
    const found = await gatherSecrets(added.value.lines, [], { ...inUse, notRead: [] });
    const here = (seen: readonly SecretSeen[]): readonly SecretSeen[] =>
      seen
        .filter((one) => !known.has(keyOf(one)))
        .map((one) => ({ ...one, where: `${one.where} in commit ${commit.slice(0, 12)}` }));
    secrets.push(...here(found.secrets));
    secretsInUse.push(...here(found.secretsInUse));
  }
  const left = commits.length - MOST_COMMITS;
  const notScanned = left > 0 ? [`${left} commits were not searched one by one`] : [];
  return ok({ secrets, secretsInUse, notScanned });
}

/** The same thing in the same file, whatever its line is by then. */
function keyOf({ where, what }: SecretSeen): string {
  return `${what}\0${where.replace(/:\d+$/, "")}`;
}
