import type { AgentAdapter } from "../../agents/port.ts";
import type { Settings } from "../../config/settings.ts";
import { readVersions } from "../../engine/image/versions.ts";
import { loginNotice } from "../../gateway/credentials/logins.ts";
import { parseReference } from "../../gateway/credentials/reference.ts";
import type { Credential } from "../../gateway/port.ts";
import { type ChosenProvider, chooseProvider } from "../../run/choice/provider.ts";
import { tryModelApi } from "../../run/egress/try-model-api.ts";
import type { Context } from "../context.ts";
import { type Check, good, problem, warning } from "./check.ts";

const DEADLINE_MS = 10_000;

/**
 * Whether an agent's credential is found, and whether its model API takes it. With the network mode `gateway` alone: this
 * is the one thing for which `doctor` sends something out, the request for the list of models.
 */
export async function modelApiChecks(
  context: Context,
  settings: Settings,
  adapter: AgentAdapter,
): Promise<readonly Check[]> {
  if (settings.network.mode !== "gateway") return [];
  const chosen = chooseProvider(adapter, settings);
  // What cannot be chosen has its own line.
  if (!chosen.ok || chosen.value === null) return [];
  const { provider } = chosen.value;
  const reference = parseReference(settings.credential[provider] ?? "none");
  if (!reference.ok) return [];
  const notices: string[] = [];
  const { readCredential } = await import("../../gateway/credentials/read-credential.ts");
  const credential = await readCredential(reference.value, {
    env: context.env,
    provider,
    agent: adapter.name,
    onNotice: (sentence) => notices.push(sentence),
    signal: context.interrupt,
  });
  if (!credential.ok) return [problem("credential", credential.error)];
  const terms = loginNotice(reference.value);
  const said = terms === undefined ? notices : [...notices, terms];
  return [
    foundCheck(adapter, credential.value),
    ...said.map((text) => warning("credential", text, null)),
    await reachCheck(context, chosen.value, credential.value),
  ];
}

function foundCheck({ name }: AgentAdapter, credential: Credential | null): Check {
  return credential === null
    ? good("credential", `${name}: none is configured, and none is sent`)
    : good("credential", `${name}: ${credential.shown}, found; it stays on this host`);
}

async function reachCheck(
  context: Context,
  { provider, upstream }: ChosenProvider,
  credential: Credential | null,
): Promise<Check> {
  const versions = await readVersions(`${context.packageRoot}image`);
  const tried = await tryModelApi({
    env: context.env,
    provider,
    upstream,
    credential,
    clientVersion: versions.agents.codex.version,
    deadlineMs: DEADLINE_MS,
  });
  if (!tried.ok) return problem("model api", tried.error);
  const { kind, status } = tried.value;
  if (kind === "accepted")
    return good(
      "model api",
      `${upstream} gave its list of models${credential === null ? "" : " for the credential"}`,
    );
  return warning(
    "model api",
    `${upstream} answered ${status} when it was asked for its list of models, so whether a run can use it is not known.`,
    status === 429 ? "Wait for its rate limit to be over." : null,
  );
}
