import { join } from "node:path";
import type { ResolvedSettings } from "../config/load.ts";
import type { Settings } from "../config/settings.ts";
import type { FlagValues } from "../config/text-layer.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import type { EngineKind } from "../core/run-spec.ts";
import type { Engine, EngineFacts, ImageFacts } from "../engine/port.ts";
import type { Head, Principal } from "../git/principal.ts";
import { refuseOperationUnderWay } from "../git/preconditions.ts";
import { readHead } from "../git/principal.ts";
import { readFileAt } from "../git/read-files.ts";
import { chooseLeasePool } from "../lease/choose.ts";
import type { LeasePool } from "../lease/port.ts";
import { checkImage } from "../run/container/image-check.ts";
import { readPlan } from "../run/choice/plan.ts";
import { networkNotices } from "../run/choice/network.ts";
import { type Invocation, checkPrincipalAt, clampNotices } from "../run/choice/prepare.ts";
import { refuseDiskLow } from "../run/house/disk-floor.ts";
import { roomFromTrash } from "../run/house/remove-later.ts";
import { checkWanted, offerTasks } from "../run/choice/offer.ts";
import { type SeriesShape, seriesShape } from "../run/choice/shape.ts";
import { chooseMethod } from "../run/layers/method.ts";
import { setupSpec } from "../run/setup/setup-spec.ts";
import { proveLimits } from "../run/container/limits-check.ts";
import { type AgentChoices, chooseAgents } from "./choose-agents.ts";
import { type Context, loadHistoryMeanwhile, principalOf } from "./context.ts";
import { type WantedEngine, engineOf, openEngine } from "./engines.ts";
import type { GatewayServices } from "../run/egress/gateway-services.ts";
import { prepareGateway } from "./gateway-services.ts";
import { settingsFor } from "./settings.ts";

/** What `run` needs, checked in the order in which a person would want to hear of problems; creates nothing. */
export interface PreparedRun {
  readonly invocation: Invocation;
  readonly engine: Engine;
  readonly leases: LeasePool;
  /** What the gateways of all runs share; undefined where the network mode is another one. */
  readonly gateway: GatewayServices | undefined;
  readonly notices: readonly string[];
}

/** @param wanted ids that were named with --task. */
export async function prepareRun(
  context: Context,
  flags: FlagValues,
  wanted: readonly string[],
): Promise<Result<PreparedRun, Failure>> {
  const principal = await principalOf(context);
  if (!principal.ok) return principal;
  const quiet = await refuseOperationUnderWay(principal.value);
  if (!quiet.ok) return quiet;
  const early = await readHead(principal.value);
  if (!early.ok) return early;
  const at = { principal: principal.value, commit: early.value.commit };
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
  loadHistoryMeanwhile();
  const places = { stateDir: context.env.stateDir, principal: principal.value };
  const [head, template, possible, room] = await Promise.all([
    checkPrincipalAt(principal.value, early),
    readTemplate(at, settings),
    refuseNothingToDo(at, settings, { wanted, kind: shape.value.kind }),
    refuseDiskLow(places, settings.disk.freeFloorBytes, () =>
      roomFromTrash({
        env: context.env,
        signal: context.interrupt,
        report: (progress) => progress.type === "notice" && context.output.progress(progress.text),
      }),
    ),
  ]);
  if (!head.ok) return head;
  if (!template.ok) return template;
  if (!possible.ok) return possible;
  if (!room.ok) return room;
  return withTools(context, {
    principal: principal.value,
    head: head.value,
    settings,
    origins: resolved.value.origins,
    agents: agents.value,
    shape: shape.value,
    wanted,
    template: template.value,
    asked,
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
    notices: [
      ...(gateway.value?.notices ?? []),
      ...checked.notices,
      ...tools.value.notices,
      ...clampNotices(settings, facts),
    ],
  });
}

export interface Tools {
  readonly engine: Engine;
  readonly facts: EngineFacts;
  readonly image: ImageFacts;
  /** What was chosen instead of what, and what about the engine is worth knowing. */
  readonly notices: readonly string[];
}

type WantedTools = WantedEngine & { readonly image: string };

/** Questions that are on their way; they change nothing, and may be left unanswered. */
export interface AskedEngine {
  readonly opened: ReturnType<typeof openEngine>;
  /** What the engine that is the first choice says of the image. */
  readonly image: Promise<{ readonly kind: EngineKind; readonly facts: ImageAnswer } | undefined>;
}

type ImageAnswer = Awaited<ReturnType<Engine["image"]>>;

/** Asks the engine what it is, and the one that is likely to be taken about the image meanwhile. */
export function askEngine(context: Context, wanted: WantedTools): AskedEngine {
  const kind = wanted.engine === "auto" ? "docker" : wanted.engine;
  const aboutImage = async () => {
    const engine = await engineOf(context, kind, "");
    return engine.ok ? { kind, facts: await engine.value.image(wanted.image) } : undefined;
  };
  const asked = { opened: openEngine(context, wanted), image: aboutImage() };
  // Where something else is wrong nobody waits for them.
  for (const one of Object.values(asked)) one.catch(() => undefined);
  return asked;
}

/** The engine, proven to answer and to keep limits, and the image, proven to suit. */
export async function engineAndImage(
  context: Context,
  settings: { readonly container: WantedTools },
  asked = askEngine(context, settings.container),
): Promise<Result<Tools, Failure>> {
  const opened = await asked.opened;
  if (!opened.ok) return opened;
  const { engine, insteadOf } = opened.value;
  const { image: name } = settings.container;
  const early = await asked.image;
  const image = early?.kind === engine.kind ? early.facts : await engine.image(name);
  if (!image.ok) return image;
  if (image.value === undefined) return imageMissing(engine, name);
  const { stateDir } = context.env;
  const found = { name, facts: image.value };
  const facts = await proveLimits(engine, { facts: opened.value.facts, image: found }, stateDir);
  if (!facts.ok) return facts;
  const suits = await checkImage(engine, { ...found, setup: facts.value.setup }, stateDir);
  if (!suits.ok) return suits;
  const chosen =
    insteadOf === undefined ? [] : [`${engine.name} runs the containers, because: ${insteadOf}`];
  const notices = [...chosen, ...facts.value.notes];
  return ok({ engine, facts: facts.value, image: image.value, notices });
}

function imageMissing({ kind, name: engine }: Engine, image: string): Result<never, Failure> {
  const build = kind === "docker" ? "" : ` --engine ${kind}`;
  return fail(
    "image-missing",
    `The image ${image} is not in ${engine}; guardloop never pulls one by itself.`,
    { cure: `Run \`guardloop image build${build}\`, or name another image with --image.` },
  );
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
