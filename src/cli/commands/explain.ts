import type { Command } from "commander";
import type { AgentAdapter } from "../../agents/port.ts";
import { agentAdapter } from "../../agents/registry.ts";
import type { ResolvedSettings } from "../../config/load.ts";
import { loosenedBy } from "../../config/loosened.ts";
import type { Settings } from "../../config/settings.ts";
import { show } from "../../config/written.ts";
import { EXIT, type Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import { loginNotice } from "../../gateway/credentials/logins.ts";
import { parseReference } from "../../gateway/credentials/reference.ts";
import { readHeadCommit } from "../../git/principal.ts";
import { type Exposure, exposureOf } from "../../run/choice/exposure.ts";
import { networkNotices } from "../../run/choice/network.ts";
import { chooseProvider } from "../../run/choice/provider.ts";
import { lookAtFiles } from "../../run/snapshot/files-seen.ts";
import { chooseAgents } from "../choose-agents.ts";
import { type Context, gitProgram, repositoryOf } from "../context.ts";
import { type Call, type CommandEnd, type Finish, action, define } from "../define.ts";
import { exposureBlocks } from "../output/exposure.ts";
import { bold, dim, red, yellow } from "../output/text.ts";
import { addSettingOptions, settingFlags } from "../setting-options.ts";
import { settingsFor } from "../settings.ts";

export function explainCommand(context: Context, finish: Finish): Command {
  const command = define({
    name: "explain",
    description:
      "Takes the settings of `run` and says, before anything is started, what the agent's container could read and reach, who could be sent what it reads, where credentials are, which files that may hold secrets come in, and which value from where loosens the boundary. Needs no clean checkout, no engine and no image; reads no credential. Changes nothing.",
    exits: [EXIT.done, EXIT.usage, EXIT.refused],
    examples: [
      "guardloop explain",
      "guardloop explain --agent codex --network gateway",
      "guardloop explain --agent codex --network bridge --pass-env OPENAI_API_KEY",
      "guardloop explain --network gateway --json",
    ],
  }).argument("[command...]", "after --, the program and arguments of the agent");
  addSettingOptions(command);
  return action(command, { context, finish }, perform);
}

interface Explained {
  readonly exposure: Exposure;
  readonly commit: string;
  readonly resolved: ResolvedSettings;
  readonly notices: readonly string[];
  /** Why a run with these settings would not begin. */
  readonly refusal: Failure | undefined;
}

async function perform(call: Call): Promise<CommandEnd> {
  const explained = await explain(call);
  if (!explained.ok) return explained;
  if (call.format === "json") printJson(call, explained.value);
  else printText(call, explained.value);
  return ok(EXIT.done);
}

async function explain(call: Call): Promise<Result<Explained, Failure>> {
  const { context } = call;
  const git = gitProgram(context);
  if (!git.ok) return git;
  const found = await repositoryOf(context);
  if (!found.ok) return found;
  const { principal, seen } = found.value;
  const commit = seen === undefined ? await readHeadCommit(principal) : ok(seen.head.commit);
  if (!commit.ok) return commit;
  const at = { principal, commit: commit.value };
  const resolved = await settingsFor(context, at, settingFlags(call));
  if (!resolved.ok) return resolved;
  const { settings } = resolved.value;
  const files = await lookAtFiles({
    gitProgram: git.value,
    env: context.env,
    ...at,
    include: settings.overlay.include,
  });
  if (!files.ok) return files;
  const { engine } = settings.container;
  const adapters = settings.agent.names.map((name) => agentAdapter(name));
  const able = chooseAgents(context, resolved.value);
  return ok({
    exposure: exposureOf({
      settings,
      adapters,
      files: files.value,
      engine: engine === "auto" ? undefined : engine,
    }),
    commit: commit.value,
    resolved: resolved.value,
    notices: [
      ...resolved.value.notices,
      ...networkNotices(settings),
      ...loginNotices(adapters, settings),
    ],
    refusal: able.ok ? undefined : able.error,
  });
}

/** Which method `auto` comes to is known when an engine is asked; what the container sees does not depend on it. */
function methodLine(method: Settings["snapshot"]["method"]): string {
  return method === "auto"
    ? "Its files are laid over kept layers, cloned or copied: the quickest that works here; `guardloop doctor` says which."
    : `Its files come by ${method}, as snapshot.method says.`;
}

/** What the providers say about logins that would be used. */
function loginNotices(adapters: readonly AgentAdapter[], settings: Settings): readonly string[] {
  if (settings.network.mode !== "gateway") return [];
  const notices = adapters.flatMap((adapter) => {
    const chosen = chooseProvider(adapter, settings);
    if (!chosen.ok || chosen.value === null) return [];
    const reference = parseReference(settings.credential[chosen.value.provider] ?? "none");
    return reference.ok ? (loginNotice(reference.value) ?? []) : [];
  });
  return [...new Set(notices)];
}

function printJson({ context }: Call, { exposure, commit, resolved, ...said }: Explained): void {
  const { refusal } = said;
  context.output.json({
    version: 1,
    commit,
    ...exposure,
    loosened: loosenedBy(resolved.origins),
    notices: said.notices,
    refusal:
      refusal === undefined
        ? null
        : { code: refusal.code, message: refusal.message, cure: refusal.cure },
  });
}

function printText({ context: { output } }: Call, explained: Explained): void {
  const { exposure, resolved, refusal } = explained;
  const agents = exposure.agents.length === 0 ? "no agent yet" : exposure.agents.join(", ");
  output.result(
    bold(`Network ${exposure.network}`),
    `, ${agents}, commit ${explained.commit.slice(0, 12)}`,
  );
  output.result(dim(methodLine(resolved.settings.snapshot.method)));
  for (const { heading, lines } of exposureBlocks(exposure)) {
    output.result("");
    output.result(bold(heading));
    for (const line of lines) output.result("  ", line);
  }
  const loosened = loosenedBy(resolved.origins);
  output.result("");
  output.result(bold("What loosens the boundary, and where it is set"));
  if (loosened.length === 0) output.result("  nothing");
  for (const { key, value, origin, where } of loosened)
    output.result("  ", `${key} = ${show(value)}`, dim(`  ${origin}, ${where ?? ""}`));
  for (const text of explained.notices) output.progress(yellow("note: "), text);
  if (refusal === undefined) return;
  output.result("");
  output.result(red("A run with these settings would be refused: "), refusal.message);
  output.result("  ", refusal.cure);
}
