import type { AgentAdapter } from "../../agents/port.ts";
import type { Settings } from "../../config/settings.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { chooseProvider } from "./provider.ts";

type NetworkSettings = Pick<
  Settings,
  "agent" | "network" | "gateway" | "upstream" | "credential" | "budget"
>;

/** Names under which agents commonly find the key of a model API. */
const MODEL_KEY = /^(?:OPENAI|CODEX|ANTHROPIC|CLAUDE|GEMINI|GOOGLE)_.*(?:KEY|TOKEN)$/;

/** Refuses an agent that could not work with the network it gets, and settings about it that contradict each other. */
export function checkNetwork(
  adapter: AgentAdapter,
  settings: NetworkSettings,
): Result<void, Failure> {
  switch (settings.network.mode) {
    case "none":
      return adapter.kind === "local" ? refuseHosts(settings) : refuseHosted(adapter);
    case "gateway":
      return checkGateway(adapter, settings);
    case "bridge": {
      const hosts = refuseHosts(settings);
      return hosts.ok && adapter.kind === "hosted" ? refuseBudget(settings) : hosts;
    }
  }
}

/** What is allowed and hardly meant: sentences for the user. */
export function networkNotices(settings: NetworkSettings): readonly string[] {
  const { mode } = settings.network;
  const keys = settings.agent.passEnv.filter((name) => MODEL_KEY.test(name));
  const notices: string[] = [];
  if (mode === "gateway" && keys.length > 0)
    notices.push(
      `${keys.join(", ")} ${keys.length === 1 ? "looks" : "look"} like a key of a model API and ${keys.length === 1 ? "is" : "are"} passed into the container: through the gateway the agent needs none there.`,
    );
  if (mode === "bridge" && isBudgetSet(settings))
    notices.push(
      "The budgets that are set do not hold with network bridge: only the gateway counts.",
    );
  if (mode !== "gateway" && settings.gateway.waitForLimit === "on")
    notices.push(
      `--wait-for-limit does nothing with network ${mode}: only the gateway sees a rate limit.`,
    );
  return notices;
}

function refuseHosted({ name, credentialNames }: AgentAdapter): Result<never, Failure> {
  const passed = credentialNames.map((key) => `--pass-env ${key}`).join(" or ");
  return fail(
    "network-required",
    `The agent ${name} reaches a hosted model, and the network mode is none.`,
    {
      cure: `Pass --network gateway (the container gets no network, and the key stays on this host); or --network bridge with ${passed} (this gives the container a real network and that key); or run a local program with --agent command -- PROGRAM ARGS.`,
    },
  );
}

function checkGateway(adapter: AgentAdapter, settings: NetworkSettings): Result<void, Failure> {
  const chosen = chooseProvider(adapter, settings);
  if (!chosen.ok) return chosen;
  const variable = variableOf(chosen.value?.credential ?? null);
  if (variable === undefined || !settings.agent.passEnv.includes(variable)) return ok(undefined);
  return fail(
    "config-invalid",
    `${variable} is what the gateway keeps on this host, and --pass-env would put it into the container.`,
    {
      cure: `Leave ${variable} out of agent.pass_env (--pass-env); the gateway reads it by itself.`,
    },
  );
}

/** The variable that a reference reads; undefined for other kinds of references. */
function variableOf(reference: string | null): string | undefined {
  return reference?.startsWith("env:") === true ? reference.slice("env:".length) : undefined;
}

function refuseHosts({ network: { mode, allowHosts } }: NetworkSettings): Result<void, Failure> {
  const [host] = allowHosts;
  if (host === undefined) return ok(undefined);
  const why =
    mode === "bridge"
      ? "with network bridge every host can be reached"
      : "with network none no host can be reached";
  return fail("config-invalid", `--allow-host ${host} has no meaning: ${why}.`, {
    cure: "Pass --network gateway with it, or leave network.allow_hosts out.",
  });
}

function isBudgetSet({ budget }: NetworkSettings): boolean {
  const limits = [...Object.values(budget.run), ...Object.values(budget.invocation)];
  return limits.some((limit) => limit !== null);
}

function refuseBudget(settings: NetworkSettings): Result<void, Failure> {
  if (!isBudgetSet(settings)) return ok(undefined);
  return fail(
    "config-invalid",
    "A budget is set, and with network bridge nobody counts what the agent uses.",
    {
      cure: "Pass --network gateway, which counts, or set every value of [budget] to 0 (`guardloop config` shows them).",
    },
  );
}
