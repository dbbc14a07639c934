import type { AgentAdapter } from "../../agents/port.ts";
import { agentAdapter } from "../../agents/registry.ts";
import { readOwnPrices } from "../../config/prices.ts";
import type { ResolvedSettings } from "../../config/load.ts";
import type { Settings } from "../../config/settings.ts";
import { readVersions } from "../../engine/image/versions.ts";
import { priceOf, withOwnPrices } from "../../gateway/meter/price-table.ts";
import { STANDARD_PRICES } from "../../gateway/meter/standard-prices.ts";
import { networkNotices } from "../../run/choice/network.ts";
import { agentInImage } from "../../run/container/agent-check.ts";
import { chooseAgents } from "../choose-agents.ts";
import type { Context } from "../context.ts";
import type { Tools } from "../run-tools.ts";
import { type Check, good, problem, warning } from "./check.ts";
import { modelApiChecks } from "./model-api.ts";

/** What each configured agent needs: its program in the image, settings that suit it, its credential, its model API. */
export async function agentChecks(
  context: Context,
  resolved: ResolvedSettings,
  tools: Tools | undefined,
): Promise<readonly Check[]> {
  const { settings } = resolved;
  const adapters = [...new Set(settings.agent.names)].map((name) => agentAdapter(name));
  const checks: Check[] = [...settingChecks(context, resolved)];
  for (const adapter of adapters) {
    const imageName = settings.container.image;
    if (tools !== undefined)
      checks.push(...(await programChecks(context, adapter, { tools, imageName })));
    checks.push(...(await modelApiChecks(context, settings, adapter)));
  }
  return [...unique(checks), ...(await priceChecks(context, settings))];
}

function settingChecks(context: Context, resolved: ResolvedSettings): readonly Check[] {
  const { settings } = resolved;
  if (settings.agent.names.length === 0) return [];
  const able = chooseAgents(context, resolved);
  const notices = networkNotices(settings).map((text) => warning("agent", text, null));
  // The program of agent `command` may come with the run.
  if (able.ok || able.error.code === "agent-not-configured") return notices;
  return [problem("agent", able.error), ...notices];
}

interface InImage {
  readonly tools: Tools;
  readonly imageName: string;
}

async function programChecks(
  context: Context,
  { name, versionArgv }: AgentAdapter,
  { tools: { engine, facts, image }, imageName }: InImage,
): Promise<readonly Check[]> {
  if (versionArgv.length === 0) return [];
  const asked = await agentInImage(engine, {
    image: { name: imageName, facts: image, setup: facts.setup },
    stateDir: context.env.stateDir,
    versionArgv,
  });
  if (!asked.ok) return [problem("agent", asked.error)];
  const { found, version } = asked.value;
  if (found === "no")
    return [
      {
        name: "agent",
        verdict: "problem",
        text: `The program of ${name} is not in the image ${imageName}.`,
        cure: `Run \`guardloop image build --agent ${name}\`, or name an image that has it with --image.`,
      },
    ];
  const { agents } = await readVersions(`${context.packageRoot}image`);
  const pins: Readonly<Record<string, { readonly version: string } | undefined>> = agents;
  const pin = pins[name]?.version;
  const said = version ?? "a version it does not say";
  if (pin === undefined || version?.includes(pin) === true)
    return [good("agent", `${name} is in the image: ${said}`)];
  return [
    warning(
      "agent",
      `${name} is in the image as ${said}, and this guardloop was tried with ${pin}.`,
      `Run \`guardloop image build --agent ${name}\` for the version that was tried.`,
    ),
  ];
}

/** Two agents with one model API and one credential are one matter. */
function unique(checks: readonly Check[]): readonly Check[] {
  return [...new Map(checks.map((check) => [`${check.name} ${check.text}`, check])).values()];
}

async function priceChecks(context: Context, settings: Settings): Promise<readonly Check[]> {
  if (settings.network.mode !== "gateway") return [];
  const own = await readOwnPrices(context.env.configDir);
  if (!own.ok) return [problem("prices", own.error)];
  const { run, invocation } = settings.budget;
  const { model } = settings.agent;
  if (run.usd === null && invocation.usd === null) return [];
  if (model === undefined)
    return [
      warning(
        "prices",
        "A budget of money is set and no model is named: a request for a model without a price is refused.",
        "Name the model with agent.model, so that its price can be looked up here.",
      ),
    ];
  if (priceOf(withOwnPrices(STANDARD_PRICES, own.value), model) !== undefined)
    return [good("prices", `${model} has a price`)];
  return [
    {
      name: "prices",
      verdict: "problem",
      text: `A budget of money is set, and the model ${model} has no price, so every request for it would be refused.`,
      cure: "Write its price into prices.toml beside your own configuration file; see docs/budgets.md.",
    },
  ];
}
