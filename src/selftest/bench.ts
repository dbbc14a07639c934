import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentAdapter } from "../agents/registry.ts";
import { loadSettings } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import type { HostEnvironment } from "../core/environment.ts";
import type { Failure } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { Engine, EngineFacts, ImageFacts } from "../engine/port.ts";
import { ensurePrivateDirectory } from "../files/private-directory.ts";
import { openPrincipal, readHead } from "../git/principal.ts";
import { openHistory } from "../history/sqlite.ts";
import { chooseLeasePool } from "../lease/choose.ts";
import type { Invocation } from "../run/choice/prepare.ts";
import { chooseMethod } from "../run/layers/method.ts";
import { runPaths } from "../run/paths.ts";
import { type SeriesServices, runSeries } from "../run/series/series.ts";
import { readSpec } from "../run/stages/spec.ts";
import type { AttackAgent, Seen } from "./attack.ts";
import type { Place } from "./place.ts";

/** Beyond it an attack that should have ended long ago is ended. */
const WALL_MS = 3 * 60_000;

export interface BenchSetup {
  readonly env: HostEnvironment;
  /** Absolute path of git. */
  readonly gitProgram: string;
  readonly guestBundle: string;
  /** An engine whose client gets this environment. */
  readonly engineWith: (env: HostEnvironment) => Promise<Engine>;
  readonly facts: EngineFacts;
  readonly image: ImageFacts;
  /** The container, the network and the snapshot of these are what is tried; the rest is as guardloop comes. */
  readonly settings: Pick<Settings, "container" | "network" | "snapshot">;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/** The real flow over the scratch repository, ready to run one agent after another. */
export interface Bench extends Disposable {
  readonly services: SeriesServices;
  readonly invocation: Invocation;
  readonly place: Place;
}

/** Puts the flow together as `guardloop run` does, with a state directory of its own. */
export async function openBench(place: Place, setup: BenchSetup): Promise<Result<Bench, Failure>> {
  const env = environmentIn(place, setup.env);
  const principal = await openPrincipal(setup.gitProgram, env, place.repository);
  if (!principal.ok) return principal;
  const head = await readHead(principal.value);
  if (!head.ok) return head;
  const leases = await chooseLeasePool("builtin", {
    env,
    git: principal.value.git,
    poolRoot: join(env.stateDir, "worktrees"),
    repositoryId: principal.value.repositoryId,
    repository: principal.value,
  });
  if (!leases.ok) return leases;
  const settings = settingsOf(setup);
  if (!settings.ok) return settings;
  await ensurePrivateDirectory(env.stateDir);
  const engine = await setup.engineWith(env);
  const snapshot = await chooseMethod({
    wanted: settings.value.snapshot.method,
    engine,
    facts: setup.facts,
    image: { name: settings.value.container.image, facts: setup.image },
    stateDir: env.stateDir,
    trial: "remembered",
    signal: setup.signal,
  });
  if (!snapshot.ok) return snapshot;
  const history = openHistory(env.stateDir, setup.now);
  if (!history.ok) return history;
  const adapter = agentAdapter("command");
  const { now, signal, guestBundle, gitProgram, facts, image } = setup;
  return ok({
    place,
    services: {
      env,
      gitProgram,
      principal: principal.value,
      engine,
      leases: leases.value,
      history: history.value,
      adapter,
      guestBundle,
      now,
      report: () => undefined,
      signal,
    },
    invocation: {
      principal: principal.value,
      head: head.value,
      settings: settings.value,
      origins: [],
      adapter,
      agents: [],
      shape: { kind: "stacked", width: 1, most: 1 },
      wanted: [],
      engine: facts,
      image,
      leaseKind: "builtin",
      snapshot: snapshot.value,
      setup: undefined,
      template: undefined,
      now,
    },
    [Symbol.dispose]: () => history.value[Symbol.dispose](),
  });
}

/** The user's environment with a state directory of its own, and with a variable that no container may see. */
function environmentIn(place: Place, env: HostEnvironment): HostEnvironment {
  const canary = { [place.variable]: place.canary };
  return {
    ...env,
    stateDir: place.stateDir,
    docker: { ...env.docker, ...canary },
    podman: { ...env.podman, ...canary },
    read: (name) => (name === place.variable ? place.canary : env.read(name)),
  };
}

function settingsOf(setup: BenchSetup): Result<Settings, Failure> {
  const standard = loadSettings({
    repositoryFile: undefined,
    userFile: undefined,
    guard: {},
    flags: {},
    trusted: "no",
  });
  if (!standard.ok) return standard;
  const { container, network, snapshot } = setup.settings;
  // However often it fails here, the one task is run again.
  const run = { ...standard.value.settings.run, giveUpAfter: 0 };
  return ok({ ...standard.value.settings, run, container, network, snapshot });
}

/** Runs one agent through the whole flow. A run that failed is something to judge; a failure is one before the run. */
export async function runAgent(bench: Bench, agent: AttackAgent): Promise<Result<Seen, Failure>> {
  const { services, place, invocation } = bench;
  const settings = bounded(invocation.settings, agent, agent.script(place));
  const series = await runSeries(
    services,
    { ...invocation, settings },
    { onReady: async () => ok(undefined) },
  );
  if (!series.ok) return series;
  const [run] = series.value.runs;
  if (run === undefined) throw new Error("a series without a run that did not fail");
  const paths = runPaths(place.stateDir, run.runId);
  const spec = await readSpec(paths);
  if (!spec.ok) return spec;
  const log = await readFile(paths.agentLog, "utf8").catch(() => "");
  const ended = run.result.ok ? run.result : err(run.result.error.failure);
  return ok({ place, spec: spec.value, ended, log, git: services.principal.git });
}

function bounded(settings: Settings, { bounds = {} }: AttackAgent, script: string): Settings {
  const { memoryBytes, pids, tmpBytes } = settings.container;
  const minutes = (bounds.wallMs ?? WALL_MS) / 60_000;
  return {
    ...settings,
    agent: { ...settings.agent, names: ["command"], command: ["sh", "-c", script] },
    container: {
      ...settings.container,
      memoryBytes: Math.min(memoryBytes, bounds.memoryBytes ?? memoryBytes),
      pids: Math.min(pids, bounds.pids ?? pids),
      tmpBytes: Math.min(tmpBytes, bounds.tmpBytes ?? tmpBytes),
    },
    limits: { ...settings.limits, wallMinutes: minutes, idleMinutes: WALL_MS / 60_000 },
  };
}
