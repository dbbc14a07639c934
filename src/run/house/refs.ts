import { ok } from "../../core/result.ts";
import { agentRefs } from "../../git/agent-refs.ts";
import { gitText } from "../../git/git.ts";
import type { Principal } from "../../git/principal.ts";
import { deleteRef } from "../../git/publish.ts";
import { listBranches } from "../branches/list.ts";
import { prunable, pruneBranch } from "../branches/prune.ts";
import { withRepositoryLock } from "../decide/repository-lock.ts";
import { type HouseItem, type Survey, type Thing, NOTHING } from "./item.ts";
import type { HouseRepository, HouseServices } from "./services.ts";

/** Refs that were kept for a run; those of discarded runs that the history knows are branches like others. */
const KEPT_REFS = ["refs/guardloop/discarded", "refs/guardloop/rolled-back"];
/** The run's id in such a ref; what was rolled back has a commit behind it. */
const RUN_OF_REF = /\/(\d{6}-\d{6}-[0-9a-z]{5})(?:-[0-9a-f]+)?$/;

/** Branches that `guardloop branches --prune` would remove, judged and removed by the same code. */
export async function surveyBranches(
  services: HouseServices,
  { principal, retention }: HouseRepository,
): Promise<Survey> {
  const at = { now: services.now(), retentionDays: retention.branchDays };
  const listed = await listBranches({ ...services, principal }, at);
  if (!listed.ok) return { ...NOTHING, problems: [listed.error.message] };
  const items = prunable(listed.value).map(({ ref, run, verdict }): HouseItem => ({
    kind: "branch",
    what: ref,
    run: run.id,
    repository: principal.topLevel,
    why: verdict.because === "landed" ? `its work ${verdict.why}` : "its run was discarded",
    size: null,
    when: "any-time",
    remove: () => pruneBranch({ ...services, principal }, { ...at, now: services.now() }, ref),
  }));
  return { ...NOTHING, items };
}

/**
 * Refs below refs/guardloop/ that the list of branches says nothing about: of runs that the history does not know, and
 * what a rollback has kept. One may go when a branch, a tag or a remote's branch holds all it leads to.
 */
export async function surveyRefs(
  services: HouseServices,
  { principal }: HouseRepository,
): Promise<Survey> {
  const refs = await agentRefs(principal.git, KEPT_REFS);
  if (!refs.ok) return { ...NOTHING, problems: [refs.error.message] };
  const items: HouseItem[] = [];
  const kept: Thing[] = [];
  for (const { ref, tip } of refs.value) {
    const run = RUN_OF_REF.exec(ref)?.[1] ?? null;
    const known = run === null ? undefined : services.history.run(run);
    if (known !== undefined && ref.startsWith("refs/guardloop/discarded/")) continue;
    const holder = await holderOf(principal, tip);
    const thing = { kind: "ref", what: ref, run, repository: principal.topLevel } as const;
    if (holder === undefined)
      kept.push({ ...thing, why: "no branch holds the commits it leads to" });
    else
      items.push({
        ...thing,
        why: `${holder} holds everything it leads to`,
        size: null,
        when: "any-time",
        remove: () => removeRef(services, principal, { ref, tip }),
      });
  }
  return { items, kept, problems: [] };
}

/** A ref of the user's that contains a commit. Agent branches do not count: they may go themselves. */
async function holderOf({ git }: Principal, tip: string): Promise<string | undefined> {
  const args = ["for-each-ref", `--contains=${tip}`, "--format=%(refname)"];
  const found = await gitText(git, [...args, "refs/heads", "refs/tags", "refs/remotes"]);
  if (!found.ok) return undefined;
  return found.value.split("\n").find((ref) => ref !== "" && !ref.startsWith("refs/heads/agent/"));
}

function removeRef(
  { env }: HouseServices,
  principal: Principal,
  { ref, tip }: { readonly ref: string; readonly tip: string },
) {
  return withRepositoryLock(env, principal.repositoryId, async () => {
    if ((await holderOf(principal, tip)) === undefined) return ok("kept" as const);
    const deleted = await deleteRef(principal.git, ref, tip);
    return deleted.ok ? ok("removed" as const) : deleted;
  });
}
