import * as agent from "./sections/agent.ts";
import * as boundary from "./sections/boundary.ts";
import * as budget from "./sections/budget.ts";
import * as container from "./sections/container.ts";
import * as disk from "./sections/disk.ts";
import * as gateway from "./sections/gateway.ts";
import * as importing from "./sections/import.ts";
import * as notify from "./sections/notify.ts";
import * as plan from "./sections/plan.ts";
import * as policy from "./sections/policy.ts";
import * as retention from "./sections/retention.ts";
import * as run from "./sections/run.ts";
import * as series from "./sections/series.ts";
import * as setup from "./sections/setup.ts";
import * as validate from "./sections/validate.ts";
import type { Setting } from "./setting.ts";
import type { Settings } from "./settings.ts";

/**
 * Every setting, in the order in which people see them. Files, environment, flags, `guardloop config`, the
 * initial guardloop.toml, the JSON schema and docs/configuration.md all come from here or are tested against it.
 */
export const SETTINGS = [
  plan.paths,
  plan.runnable,
  agent.name,
  agent.command,
  agent.model,
  agent.passEnv,
  agent.reminder,
  agent.authorName,
  agent.authorEmail,
  boundary.networkMode,
  setup.allowHosts,
  gateway.provider,
  gateway.serverTools,
  gateway.maxRequest,
  gateway.waitForLimit,
  gateway.openaiUpstream,
  gateway.anthropicUpstream,
  gateway.geminiUpstream,
  gateway.compatibleUpstream,
  gateway.openaiCredential,
  gateway.anthropicCredential,
  gateway.geminiCredential,
  gateway.compatibleCredential,
  budget.requests,
  budget.inputTokens,
  budget.outputTokens,
  budget.usd,
  budget.allRequests,
  budget.allInputTokens,
  budget.allOutputTokens,
  budget.allUsd,
  setup.setupCommands,
  setup.setupHosts,
  setup.setupLockfiles,
  setup.setupKeep,
  setup.setupMinutes,
  setup.cacheDirectories,
  container.engine,
  container.runtime,
  container.image,
  container.memory,
  container.cpus,
  container.pids,
  container.tmp,
  container.home,
  container.maxOnHost,
  boundary.wallMinutes,
  boundary.idleMinutes,
  boundary.completionMinutes,
  boundary.disk,
  boundary.files,
  boundary.logSize,
  run.leaseKind,
  boundary.snapshotMethod,
  boundary.overlayInclude,
  importing.authorship,
  run.maxTasks,
  run.mode,
  run.onFailure,
  run.promote,
  series.parallel,
  series.attempts,
  series.maxFailures,
  series.backoff,
  series.backoffMax,
  series.giveUpAfter,
  run.orphans,
  run.promptTemplate,
  validate.validateCommands,
  validate.validateMinutes,
  policy.protectedGlobs,
  policy.raise,
  policy.lower,
  notify.notifyOn,
  notify.notifyBell,
  notify.notifyCommand,
  notify.notifyUrl,
  disk.freeFloor,
  retention.automatic,
  retention.branchDays,
  retention.recordDays,
  retention.snapshotDays,
  retention.setupDays,
  retention.poolDays,
  retention.poolWorktrees,
] as const;

export type SettingKey = (typeof SETTINGS)[number]["key"];
export type AnySetting = Setting<SettingKey, unknown>;

/** The sections of the TOML file, in order, with a line for people. */
export const SECTIONS = {
  plan: "The task plan.",
  agent: "The program that does the tasks, inside the container.",
  network: "What the container can reach.",
  gateway:
    "How a hosted model is reached without a network in the container; see docs/credentials.md.",
  upstream: "Addresses of model APIs.",
  credential:
    "References to credentials, which stay on the host; never the credentials themselves.",
  budget: "What the model API may be used for; when one is used up, the agent is ended.",
  setup: "What the project depends on, fetched before the agent, without the agent.",
  cache: "Caches of package managers.",
  container: "The container and its limits. Sizes are written as 512m, 4g or 1.5g.",
  limits: "When the agent is ended, and how much of what it prints is kept.",
  lease: "The worktree a run starts from.",
  snapshot: "The throwaway repository that the container works in.",
  overlay: "Files that Git does not track.",
  import: "How the agent's commits arrive.",
  run: "Several tasks, and what happens with the results.",
  recovery: "Runs whose process died.",
  prompt: "What the agent is told.",
  validate: "Commands of the project that decide whether a result is good.",
  policy: "What a reviewer must see, and how much it weighs; see docs/findings.md.",
  notify: "How a person is told; a notification that fails never fails a run.",
  disk: "Room that is left for everything else.",
  retention: "How long things are kept; see `guardloop gc`.",
} as const satisfies Record<keyof Settings, string>;

/** Builds the final shape. `read` gives the final value of one setting. */
export function assemble(read: <T>(setting: Setting<SettingKey, T>) => T): Settings {
  return {
    plan: { globs: read(plan.paths), runnable: read(plan.runnable) },
    agent: {
      names: read(agent.name),
      command: read(agent.command),
      model: read(agent.model),
      passEnv: read(agent.passEnv),
      reminder: read(agent.reminder),
      authorName: read(agent.authorName),
      authorEmail: read(agent.authorEmail),
    },
    network: { mode: read(boundary.networkMode), allowHosts: read(setup.allowHosts) },
    ...wayOutSettings(read),
    container: {
      engine: read(container.engine),
      runtime: read(container.runtime),
      image: read(container.image),
      memoryBytes: read(container.memory),
      cpus: read(container.cpus),
      pids: read(container.pids),
      tmpBytes: read(container.tmp),
      homeBytes: read(container.home),
      maxOnHost: read(container.maxOnHost),
    },
    limits: {
      wallMinutes: read(boundary.wallMinutes),
      idleMinutes: read(boundary.idleMinutes),
      completionMinutes: read(boundary.completionMinutes),
      diskBytes: read(boundary.disk),
      files: read(boundary.files),
      logBytes: read(boundary.logSize),
    },
    lease: { kind: read(run.leaseKind) },
    snapshot: { method: read(boundary.snapshotMethod) },
    overlay: { include: read(boundary.overlayInclude) },
    import: { authorship: read(importing.authorship) },
    run: runSettings(read),
    recovery: { containers: read(run.orphans) },
    prompt: { template: read(run.promptTemplate) },
    validate: {
      commands: read(validate.validateCommands),
      minutes: read(validate.validateMinutes),
    },
    policy: {
      protected: read(policy.protectedGlobs),
      raise: read(policy.raise),
      lower: read(policy.lower),
    },
    notify: {
      on: read(notify.notifyOn),
      bell: read(notify.notifyBell),
      command: read(notify.notifyCommand),
      url: read(notify.notifyUrl),
    },
    disk: { freeFloorBytes: read(disk.freeFloor) },
    retention: {
      automatic: read(retention.automatic),
      branchDays: read(retention.branchDays),
      recordDays: read(retention.recordDays),
      snapshotDays: read(retention.snapshotDays),
      setupDays: read(retention.setupDays),
      poolDays: read(retention.poolDays),
      poolWorktrees: read(retention.poolWorktrees),
    },
  };
}

function runSettings(read: <T>(setting: Setting<SettingKey, T>) => T): Settings["run"] {
  return {
    maxTasks: read(run.maxTasks),
    mode: read(run.mode),
    onFailure: read(run.onFailure),
    promote: read(run.promote),
    parallel: read(series.parallel),
    attempts: read(series.attempts),
    maxFailures: read(series.maxFailures),
    backoffMs: read(series.backoff) * 1000,
    backoffMaxMs: read(series.backoffMax) * 1000,
    giveUpAfter: read(series.giveUpAfter),
  };
}

/** What is reached from a container, and by which way. */
function wayOutSettings(
  read: <T>(setting: Setting<SettingKey, T>) => T,
): Pick<Settings, "gateway" | "upstream" | "credential" | "budget" | "setup" | "cache"> {
  return {
    gateway: {
      provider: read(gateway.provider),
      serverTools: read(gateway.serverTools),
      maxRequestBytes: read(gateway.maxRequest),
      waitForLimit: read(gateway.waitForLimit),
    },
    upstream: {
      openai: read(gateway.openaiUpstream),
      anthropic: read(gateway.anthropicUpstream),
      gemini: read(gateway.geminiUpstream),
      compatible: read(gateway.compatibleUpstream),
    },
    credential: {
      openai: read(gateway.openaiCredential),
      anthropic: read(gateway.anthropicCredential),
      gemini: read(gateway.geminiCredential),
      compatible: read(gateway.compatibleCredential),
    },
    setup: {
      commands: read(setup.setupCommands),
      allowHosts: read(setup.setupHosts),
      lockfiles: read(setup.setupLockfiles),
      keep: read(setup.setupKeep),
      minutes: read(setup.setupMinutes),
    },
    cache: { directories: read(setup.cacheDirectories) },
    budget: {
      run: {
        requests: read(budget.requests),
        inputTokens: read(budget.inputTokens),
        outputTokens: read(budget.outputTokens),
        usd: read(budget.usd),
      },
      invocation: {
        requests: read(budget.allRequests),
        inputTokens: read(budget.allInputTokens),
        outputTokens: read(budget.allOutputTokens),
        usd: read(budget.allUsd),
      },
    },
  };
}
