import { readFile } from "node:fs/promises";
import { type Failure, fail } from "../core/failures.ts";
import { newRunId } from "../core/ids.ts";
import { type Result, ok } from "../core/result.ts";
import { type AftermathName, Watch } from "./aftermath.ts";
import { type Attack, type Judgement, type Seen, failed, held, skipped } from "./attack.ts";
import { ATTACKS, LIST, type Listed } from "./attacks.ts";
import { whySkipped } from "./attacks/shell.ts";
import { type Bench, type BenchSetup, openBench, runAgent } from "./bench.ts";
import { checkoutDigest } from "./checkout-digest.ts";
import { ownDirectory, removeDead } from "./directory.ts";
import { makePlace } from "./place.ts";

export interface SelftestSetup extends BenchSetup {
  /** Path of the bundled probe. */
  readonly probeBundle: string;
  /** Names of what to try, all of them in `LIST`; empty for everything. */
  readonly only: ReadonlySet<string>;
  /** Called for each line of the table as soon as it is known. */
  readonly onTried: (tried: Tried) => void;
}

export interface Tried extends Listed, Judgement {}

/**
 * Tries the attacks through the real flow, on a repository and a state directory of its own, which are removed at the
 * end whatever happens. The user's repositories and history are not touched.
 *
 * @returns `interrupted` when the signal came meanwhile, or what kept it from beginning.
 */
export async function selftest(setup: SelftestSetup): Promise<Result<readonly Tried[], Failure>> {
  const engine = await setup.engineWith(setup.env);
  await removeDead(setup.env, engine);
  await using directory = await ownDirectory(setup.env, newRunId(setup.now()), engine);
  const probe = await readFile(setup.probeBundle, "utf8");
  const place = await makePlace(directory.root, { ...setup, probe });
  if (!place.ok) return place;
  const opened = await openBench(place.value, setup);
  if (!opened.ok) return opened;
  using bench = opened.value;
  // Awaited here: what was made is removed when this returns.
  return await tryAll(bench, setup);
}

async function tryAll(
  bench: Bench,
  { only, onTried, signal }: SelftestSetup,
): Promise<Result<readonly Tried[], Failure>> {
  const { git } = bench.services.principal;
  const digest = await checkoutDigest(git, bench.place.repository);
  const watch = new Watch({ place: bench.place, git, ...bench.services, digest });
  const wanted = ATTACKS.filter(({ name }) => only.size === 0 || only.has(name));
  const tried: Tried[] = [];
  const say = (one: Tried): void => {
    tried.push(one);
    onTried(one);
  };
  // Attacks that share an agent are tried in one run.
  for (const agent of new Set(wanted.map((attack) => attack.agent))) {
    const seen = await runAgent(bench, agent);
    if (signal.aborted) return interrupted();
    if (!seen.ok) return seen;
    const wrong = await watch.lookAgain();
    const attacks = wanted.filter((one) => one.agent === agent);
    for (const one of await judgeAll(attacks, seen.value, wrong)) say(one);
  }
  for (const listed of LIST.filter(({ boundary }) => boundary === "host"))
    if (only.size === 0 || only.has(listed.name))
      say({ ...listed, ...judgeHost(watch, listed.name, wanted.length) });
  return ok(tried);
}

function interrupted(): Result<never, Failure> {
  return fail("interrupted", "The selftest was interrupted; what it had made is removed.", {
    cure: "Run `guardloop selftest` again.",
  });
}

/** What went wrong on the host counts against every attack of that run, unless one of them says why. */
async function judgeAll(
  attacks: readonly (Attack & Listed)[],
  seen: Seen,
  wrong: readonly string[],
): Promise<readonly Tried[]> {
  const why = whySkipped(seen.log);
  const tried: Tried[] = [];
  for (const attack of attacks) {
    const { name, boundary, tries } = attack;
    const judgement = why === undefined ? await attack.expect(seen) : skipped(why);
    tried.push({ name, boundary, tries, ...judgement });
  }
  if (wrong.length === 0 || tried.some(({ verdict }) => verdict === "failed")) return tried;
  return tried.map((one) => ({ ...one, ...failed(wrong.join("; ")) }));
}

function judgeHost(watch: Watch, name: string, attacks: number): Judgement {
  if (attacks === 0) return skipped("no attack was tried");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name of our own table
  const found = watch.found(name as AftermathName);
  return found.length === 0 ? held("nothing of the kind after any run") : failed(found.join("; "));
}
