import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ResolvedSettings } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import type { FlagValues } from "../config/text-layer.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { Engine } from "../engine/port.ts";
import { type Head, type Principal, headOf } from "../git/principal.ts";
import { refuseOperationUnderWay } from "../git/preconditions.ts";
import { readFileAt } from "../git/read-files.ts";
import { chooseLeasePool } from "../lease/choose.ts";
import type { LeasePool } from "../lease/port.ts";
import type { Glance } from "../run/afterwards/glance.ts";
import { readPlan } from "../run/choice/plan.ts";
import { networkNotices } from "../run/choice/network.ts";
import { type Invocation, checkPrincipalAt, clampNotices } from "../run/choice/prepare.ts";
import { refuseDiskLow } from "../run/house/disk-floor.ts";
import { roomFromTrash } from "../run/house/remove-later.ts";
import { checkWanted, offerTasks } from "../run/choice/offer.ts";
import { type SeriesShape, seriesShape } from "../run/choice/shape.ts";
import { chooseMethod } from "../run/layers/method.ts";
import { setupSpec } from "../run/setup/setup-spec.ts";
import { secretPathsIn } from "../run/snapshot/files-seen.ts";
import { type AgentChoices, chooseAgents } from "./choose-agents.ts";
import { type Context, loadHistoryMeanwhile, repositoryOf } from "./context.ts";
import type { GatewayServices } from "../run/egress/gateway-services.ts";
import { prepareGateway } from "./gateway-services.ts";
import { type AskedEngine, askEngine, engineAndImage, glanceMeanwhile } from "./run-tools.ts";
import { settingsFor } from "./settings.ts";

/** What `run` needs, checked in the order in which a person would want to hear of problems; creates nothing. */
export interface PreparedRun {
  readonly invocation: Invocation;
  readonly engine: Engine;
  readonly leases: LeasePool;
  /** What the gateways of all runs share; undefined where the network mode is another one. */
  readonly gateway: GatewayServices | undefined;
  readonly notices: readonly string[];
  /** Files of the commit that look like credentials; undefined where nobody asked. */
  readonly secretPaths: Awaited<ReturnType<typeof secretPathsIn>> | undefined;
  /** For the recovery that comes next. */
  readonly glance: Glance;
}

export interface PrepareRequest {
  readonly flags: FlagValues;
  /** Ids that were named with --task. */
  readonly wanted: readonly string[];
  readonly secretPaths: "wanted" | "unwanted";
}

export async function prepareRun(
  context: Context,
  { flags, wanted, secretPaths }: PrepareRequest,
): Promise<Result<PreparedRun, Failure>> {
  const found = await repositoryOf(context);
  if (!found.ok) return found;
  const { principal, seen } = found.value;
  const quiet = await refuseOperationUnderWay(principal);
  if (!quiet.ok) return quiet;
  const early = await headOf(found.value);
  if (!early.ok) return early;
  const at = { principal, commit: early.value.commit };
  loadHistoryMeanwhile();
  const resolved = await settingsFor(context, at, flags);
  if (!resolved.ok) return resolved;
  const agents = chooseAgents(context, resolved.value);
  if (!agents.ok) return agents;
  const [first] = agents.value;
  const settings = { ...resolved.value.settings, agent: first.settings };
  const shape = shapeOf(resolved.value, agents.value, wanted);
  if (!shape.ok) return shape;
  // The engine takes longest to answer; its answer counts when everything before it is well.
  const asked = askEngine(context, settings.container);
  const glance = glanceMeanwhile(context, { principal, engine: settings.container.engine });
  // Its clients are to be started before so many of Git's.
  await setImmediate();
  const places = { stateDir: context.env.stateDir, principal };
  const [possible, head, template, room, inCommit] = await Promise.all([
    // The one that asks twice.
    refuseNothingToDo(at, settings, { wanted, kind: shape.value.kind }),
    checkPrincipalAt(principal, early, { format: seen, refs: glance.refs }),
    readTemplate(at, settings),
    refuseDiskLow(places, settings.disk.freeFloorBytes, () =>
      roomFromTrash({
        env: context.env,
        signal: context.interrupt,
        report: (progress) => progress.type === "notice" && context.output.progress(progress.text),
      }),
    ),
    secretPaths === "wanted" ? secretPathsIn(principal.git, at.commit) : undefined,
  ]);
  if (!head.ok) return head;
  if (!template.ok) return template;
  if (!possible.ok) return possible;
  if (!room.ok) return room;
  return withTools(context, {
    principal,
    head: head.value,
    settings,
    origins: resolved.value.origins,
    agents: agents.value,
    shape: shape.value,
    wanted,
    template: template.value,
    asked,
    glance,
    secretPaths: inCommit,
    notices: [...resolved.value.notices, ...networkNotices(settings)],
  });
}

/** Read once more for each run: this is only about not starting in vain. */
async function refuseNothingToDo(
  { principal, commit }: { readonly principal: Principal; readonly commit: string },
  settings: Settings,
  { wanted, kind }: { readonly wanted: readonly string[]; readonly kind: SeriesShape["kind"] },
): Promise<Result<void, Failure>> {
  const plan = await readPlan(principal.git, commit, settings.plan);
  if (!plan.ok) return plan;
  const named = checkWanted(plan.value, wanted, kind);
  if (!named.ok) return named;
  const offered = offerTasks(plan.value);
  return offered.ok ? ok(undefined) : offered;
}

interface Checked {
  readonly principal: Principal;
  readonly head: Head;
  readonly settings: Settings;
  readonly origins: ResolvedSettings["origins"];
  readonly agents: AgentChoices;
  readonly shape: SeriesShape;
  readonly wanted: readonly string[];
  readonly template: Invocation["template"];
  readonly asked: AskedEngine;
  readonly notices: readonly string[];
  readonly glance: Glance;
  readonly secretPaths: PreparedRun["secretPaths"];
}

async function withTools(
  context: Context,
  checked: Checked,
): Promise<Result<PreparedRun, Failure>> {
  const { principal, head, settings, agents, shape, wanted, template } = checked;
  const tools = await engineAndImage(context, settings, checked.asked);
  if (!tools.ok) return tools;
  const { engine, facts, image } = tools.value;
  const leases = await poolFor(context, principal, settings.lease.kind);
  if (!leases.ok) return leases;
  const setup = await setupSpec(settings, {
    git: principal.git,
    head: head.commit,
    imageId: image.id,
  });
  if (!setup.ok) return setup;
  const snapshot = await chooseMethod({
    wanted: settings.snapshot.method,
    engine,
    facts,
    image: { name: settings.container.image, facts: image },
    stateDir: context.env.stateDir,
    trial: "remembered",
    signal: context.interrupt,
  });
  if (!snapshot.ok) return snapshot;
  // Last: a password manager may ask the user, and then nothing else should still be wrong.
  const gateway = await prepareGateway(context, settings, agents);
  if (!gateway.ok) return gateway;
  return ok({
    invocation: {
      principal,
      head,
      settings,
      origins: checked.origins,
      adapter: agents[0].adapter,
      agents,
      shape,
      wanted,
      engine: facts,
      image,
      leaseKind: leases.value.kind,
      snapshot: snapshot.value,
      setup: setup.value,
      template,
      now: context.now,
    },
    engine,
    leases: leases.value,
    gateway: gateway.value?.services,
    glance: checked.glance,
    secretPaths: checked.secretPaths,
    notices: [
      ...(gateway.value?.notices ?? []),
      ...checked.notices,
      ...tools.value.notices,
      ...clampNotices(settings, facts),
    ],
  });
}

export async function poolFor(
  context: Context,
  principal: Principal,
  kind: Settings["lease"]["kind"],
): Promise<Result<LeasePool, Failure>> {
  return chooseLeasePool(kind, {
    env: context.env,
    git: principal.git,
    poolRoot: join(context.env.stateDir, "worktrees"),
    repositoryId: principal.repositoryId,
    repository: { topLevel: principal.topLevel, commonDir: principal.commonDir },
  });
}

/** Every pool that an earlier run may have leased from: a changed setting or PATH must not hide its lease. */
export async function allPools(
  context: Context,
  principal: Principal,
): Promise<readonly LeasePool[]> {
  const pools = await Promise.all(
    (["builtin", "treehouse"] as const).map((kind) => poolFor(context, principal, kind)),
  );
  return pools.flatMap((pool) => (pool.ok ? [pool.value] : []));
}

function shapeOf(
  { settings, origins }: ResolvedSettings,
  agents: AgentChoices,
  wanted: readonly string[],
): Result<SeriesShape, Failure> {
  return seriesShape({
    run: settings.run,
    agents: agents.length,
    wanted: new Set(wanted).size,
    originOf: (key) => origins.find((one) => one.key === key)?.origin ?? "default",
  });
}

async function readTemplate(
  at: { readonly principal: Principal; readonly commit: string },
  settings: Settings,
): Promise<Result<Invocation["template"], Failure>> {
  const path = settings.prompt.template;
  if (path === undefined) return ok(undefined);
  const text = await readFileAt(at.principal.git, at.commit, path);
  if (!text.ok) return text;
  if (text.value === undefined)
    return fail(
      "config-invalid",
      `The prompt template ${path} is not in commit ${at.commit.slice(0, 12)}.`,
      {
        cure: "Commit it, or correct prompt.template.",
      },
    );
  return ok({ path, text: text.value });
}
