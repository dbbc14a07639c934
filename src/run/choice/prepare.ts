import type { AgentAdapter } from "../../agents/port.ts";
import type { ResolvedSettings } from "../../config/load.ts";
import type { Settings } from "../../config/settings.ts";
import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type {
  Attempt,
  OfferedTask,
  RunSpec,
  SetupSpec,
  ValidationCommand,
} from "../../core/run-spec.ts";
import type { EngineFacts, ImageFacts } from "../../engine/port.ts";
import {
  refuseAgentBranch,
  refuseDirty,
  refuseOperationUnderWay,
  refuseUnsupported,
} from "../../git/preconditions.ts";
import { type Head, type Principal, type RepositoryFormat, readHead } from "../../git/principal.ts";
import { containerUser } from "../container/container-user.ts";
import type { ChosenMethod } from "../layers/method.ts";
import { IN_CONTAINER } from "../paths.ts";
import { gatewayPart } from "./gateway-part.ts";
import { agentPart } from "./agent-part.ts";
import { renderPrompt } from "./prompt.ts";
import type { SeriesShape } from "./shape.ts";

/** Everything a run needs to know that does not change within an invocation. */
export interface Invocation {
  readonly principal: Principal;
  /** The principal checkout as the invocation found it. */
  readonly head: Head;
  readonly settings: Settings;
  /** Where each setting came from. */
  readonly origins: ResolvedSettings["origins"];
  /** The agent, which `settings.agent` belongs to. */
  readonly adapter: AgentAdapter;
  /** Where attempts go round several agents: each with its part of the settings. */
  readonly agents: readonly AgentChoice[];
  readonly shape: SeriesShape;
  /** Tasks that were named; empty when any will do. */
  readonly wanted: readonly string[];
  readonly engine: EngineFacts;
  readonly image: ImageFacts;
  readonly leaseKind: "builtin" | "treehouse";
  readonly snapshot: ChosenMethod;
  /** Undefined without setup commands. */
  readonly setup: SetupSpec | undefined;
  readonly template: { readonly path: string; readonly text: string } | undefined;
  readonly now: () => Date;
}

export interface AgentChoice {
  readonly adapter: AgentAdapter;
  readonly settings: Settings["agent"];
}

/** Checks the principal checkout before anything is created. Git is asked at once; of what is wrong the first is told. */
export async function checkPrincipal(principal: Principal): Promise<Result<Head, Failure>> {
  const quiet = await refuseOperationUnderWay(principal);
  if (!quiet.ok) return quiet;
  const head = await readHead(principal);
  return head.ok ? checkPrincipalAt(principal, head) : head;
}

/** What was asked for already, a moment ago. */
export interface KnownOfPrincipal {
  readonly format?: RepositoryFormat | undefined;
  readonly refs?: Parameters<typeof refuseAgentBranch>[1];
}

/** The same where its HEAD was read just now. */
export async function checkPrincipalAt(
  principal: Principal,
  head: { readonly ok: true; readonly value: Head },
  known: KnownOfPrincipal = {},
): Promise<Result<Head, Failure>> {
  const checks = await Promise.all([
    refuseUnsupported(principal, head.value.commit, known.format),
    refuseDirty(principal),
    refuseAgentBranch(principal, known.refs),
  ]);
  return checks.find((check) => !check.ok) ?? head;
}

/** What differs from run to run within an invocation. */
export interface RunChoice {
  readonly runId: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly base: string;
  readonly parentRun: string | null;
  readonly offered: readonly OfferedTask[];
  readonly attempt?: Attempt;
  /** Of the plan at the base. */
  readonly planHash: string;
}

/** Freezes everything into one run spec. Pure. */
export function makeSpec(invocation: Invocation, choice: RunChoice): Result<RunSpec, Failure> {
  const { settings, principal, head } = invocation;
  const { planHash, ...made } = choice;
  const prompt = renderPrompt({
    template: invocation.template,
    offered: choice.offered,
    artifacts: IN_CONTAINER.artifacts,
    workspace: IN_CONTAINER.workspace,
    network: settings.network.mode,
    allowHosts: settings.network.allowHosts,
  });
  if (!prompt.ok) return prompt;
  const through = gatewayPart(invocation.adapter, settings);
  if (!through.ok) return through;
  const { gateway, modelApi } = through.value;
  const { id, topLevel, commonDir, name } = { ...principal, id: principal.repositoryId };
  return ok({
    version: 1,
    repository: { id, topLevel, commonDir, name },
    branch: head.branch,
    principalHead: head.commit,
    ...made,
    agent: agentPart(invocation, { prompt: prompt.value, modelApi }),
    prompt: prompt.value,
    engine: enginePart(invocation.engine),
    image: {
      name: settings.container.image,
      id: invocation.image.id,
      labels: invocation.image.labels,
    },
    settings: invocation.origins,
    network: settings.network.mode,
    ...(gateway === undefined ? {} : { gateway }),
    ...(settings.network.allowHosts.length === 0
      ? {}
      : { allowHosts: settings.network.allowHosts }),
    ...(invocation.setup === undefined ? {} : { setup: invocation.setup }),
    container: containerPart(settings, invocation.engine),
    containersOnHost: containersOnHost(settings, invocation.engine),
    limits: {
      wallMs: Math.round(settings.limits.wallMinutes * 60_000),
      idleMs: Math.round(settings.limits.idleMinutes * 60_000),
      logBytes: settings.limits.logBytes,
      completionMs: Math.round(settings.limits.completionMinutes * 60_000),
      diskBytes: settings.limits.diskBytes,
      files: settings.limits.files,
    },
    lease: invocation.leaseKind,
    overlay: settings.overlay,
    snapshot: invocation.snapshot,
    import: settings.import,
    validate: validationCommands(settings),
    plan: { ...settings.plan, hash: planHash },
    policy: settings.policy,
    snapshotDays: Number.isFinite(settings.retention.snapshotDays)
      ? settings.retention.snapshotDays
      : null,
    controlPaths: [
      "guardloop.toml",
      ...(settings.prompt.template === undefined ? [] : [settings.prompt.template]),
    ],
  });
}

/** The commands with their limits, as a run or a later validation takes them. */
export function validationCommands(settings: Settings): readonly ValidationCommand[] {
  return settings.validate.commands.map(({ name, line, minutes }) => ({
    name,
    line,
    limitMs: Math.round((minutes ?? settings.validate.minutes) * 60_000),
  }));
}

function enginePart({ kind, version, runtime, rights, setup }: EngineFacts): RunSpec["engine"] {
  return { kind, version, runtime, rights, setup };
}

function containerPart(settings: Settings, engine: EngineFacts): RunSpec["container"] {
  const { memoryBytes, cpus, pids, tmpBytes, homeBytes } = settings.container;
  return {
    ...containerUser(),
    memoryBytes: engine.memoryBytes > 0 ? Math.min(memoryBytes, engine.memoryBytes) : memoryBytes,
    cpus: Math.min(cpus, engine.cpus),
    pids,
    tmpBytes,
    homeBytes,
  };
}

/** How many containers the host takes at once: what was asked for, else what fits into its memory. */
function containersOnHost(settings: Settings, engine: EngineFacts): number {
  const { maxOnHost } = settings.container;
  if (maxOnHost > 0) return maxOnHost;
  if (engine.memoryBytes <= 0) return Math.max(1, engine.cpus);
  const { memoryBytes } = containerPart(settings, engine);
  return Math.max(1, Math.floor(engine.memoryBytes / memoryBytes));
}

/** Says when the host has less than was asked for. */
export function clampNotices(settings: Settings, engine: EngineFacts): readonly string[] {
  const notices: string[] = [];
  if (settings.container.cpus > engine.cpus)
    notices.push(
      `The host has ${engine.cpus} CPUs, so containers get ${engine.cpus} instead of ${settings.container.cpus}.`,
    );
  if (engine.memoryBytes > 0 && settings.container.memoryBytes > engine.memoryBytes)
    notices.push(
      `The host has ${Math.round(engine.memoryBytes / 2 ** 20)} MiB of memory, so containers get that instead of ${Math.round(settings.container.memoryBytes / 2 ** 20)} MiB.`,
    );
  return notices;
}
