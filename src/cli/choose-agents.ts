import type { AgentAdapter } from "../agents/port.ts";
import { agentAdapter } from "../agents/registry.ts";
import type { ResolvedSettings } from "../config/load.ts";
import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { checkNetwork } from "../run/choice/network.ts";
import type { AgentChoice } from "../run/choice/prepare.ts";
import type { Context } from "./context.ts";

/** The first is the invocation's own agent; there is always one. */
export type AgentChoices = readonly [AgentChoice, ...AgentChoice[]];

/** The agents of an invocation, each with its part of the settings, proven to be able to work with them. */
export function chooseAgents(
  context: Context,
  resolved: ResolvedSettings,
): Result<AgentChoices, Failure> {
  const { names } = resolved.settings.agent;
  const ambiguous = refuseAmbiguous(resolved);
  if (!ambiguous.ok) return ambiguous;
  const [first, ...others] = names.map((name) => ({
    adapter: agentAdapter(name),
    settings: settingsOf(name, resolved),
  }));
  if (first === undefined) return fail("agent-not-configured", "No agent is configured.");
  for (const choice of [first, ...others]) {
    const able = checkAgent(context, choice, resolved);
    if (!able.ok) return able;
  }
  return ok([first, ...others]);
}

/** What belongs to one agent must not go to several: they understand different words. */
function refuseAmbiguous({ settings, origins }: ResolvedSettings): Result<void, Failure> {
  const names = [...new Set(settings.agent.names)];
  if (names.length < 2) return ok(undefined);
  if (settings.agent.model !== undefined)
    return fail(
      "config-invalid",
      `The agents ${names.join(" and ")} do not take the same model ${settings.agent.model}.`,
      { cure: 'Leave agent.model out, or pass --model "", so that each takes its own.' },
    );
  const given = origins.find((one) => one.key === "agent.command")?.origin === "flag";
  if (given && !names.includes("command"))
    return fail(
      "config-invalid",
      `What stands after the two dashes cannot go to ${names.join(" and ")} alike.`,
      { cure: "Name one agent, or leave it out." },
    );
  return ok(undefined);
}

/** A command that a file names belongs to agent `command`; only words after `--` are arguments for another agent. */
function settingsOf(
  name: AgentAdapter["name"],
  { settings, origins }: ResolvedSettings,
): AgentChoice["settings"] {
  const given = origins.find((one) => one.key === "agent.command")?.origin === "flag";
  const isItsOwn = name === "command" || (given && !settings.agent.names.includes("command"));
  return isItsOwn ? settings.agent : { ...settings.agent, command: [] };
}

function checkAgent(
  context: Context,
  { adapter, settings }: AgentChoice,
  resolved: ResolvedSettings,
): Result<void, Failure> {
  if (adapter.name === "command" && settings.command.length === 0)
    return fail("agent-not-configured", "The agent `command` needs a program.", {
      cure: "Name it after two dashes: guardloop run --agent command -- PROGRAM ARGS.",
    });
  const network = checkNetwork(adapter, resolved.settings);
  if (!network.ok) return network;
  const missing = settings.passEnv.filter((name) => context.env.read(name) === undefined);
  if (missing.length === 0) return ok(undefined);
  return fail(
    "config-invalid",
    `${missing.join(", ")} should be passed into the container but ${missing.length === 1 ? "is" : "are"} not set.`,
    {
      cure: "Set it in the environment, or leave it out of --pass-env.",
    },
  );
}
