import type { LaunchRequest, ModelApi } from "../../agents/port.ts";
import type { Settings } from "../../config/settings.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { Invocation } from "./prepare.ts";
import { afterLimitPrompt, reminderPrompt } from "./reminder-prompt.ts";

/** How the agent is started, and woken again, in the container. Pure; no secret is in it. */
export function agentPart(
  { settings, adapter }: Pick<Invocation, "settings" | "adapter">,
  { prompt, modelApi }: { readonly prompt: string; readonly modelApi: ModelApi | undefined },
): RunSpec["agent"] {
  const request: LaunchRequest = {
    promptPath: IN_CONTAINER.prompt,
    prompt,
    model: settings.agent.model,
    modelApi,
    serverTools: settings.gateway.serverTools,
    extraArgs: settings.agent.command,
  };
  const launch = adapter.launch(request);
  const resume = (text: string): readonly string[] | undefined =>
    adapter.resume?.({ ...request, prompt: text });
  const reminder =
    settings.agent.reminder === "on" ? resume(reminderPrompt(IN_CONTAINER)) : undefined;
  const afterLimit = waits(settings) ? resume(afterLimitPrompt(IN_CONTAINER)) : undefined;
  return {
    name: adapter.name,
    argv: launch.argv,
    env: { ...launch.env, ...(adapter.gitIdentity === "environment" ? identity(settings) : {}) },
    homeFiles: launch.homeFiles,
    versionArgv: adapter.versionArgv,
    ...(reminder === undefined ? {} : { reminderArgv: reminder }),
    ...(afterLimit === undefined ? {} : { afterLimitArgv: afterLimit }),
    ...(launch.innerSandbox === undefined ? {} : { innerSandbox: launch.innerSandbox }),
    passEnv: settings.agent.passEnv,
    author: { name: settings.agent.authorName, email: settings.agent.authorEmail },
  };
}

function waits({ network, gateway }: Settings): boolean {
  return network.mode === "gateway" && gateway.waitForLimit === "on";
}

function identity({ agent: { authorName, authorEmail } }: Settings): Record<string, string> {
  return {
    GIT_AUTHOR_NAME: authorName,
    GIT_AUTHOR_EMAIL: authorEmail,
    GIT_COMMITTER_NAME: authorName,
    GIT_COMMITTER_EMAIL: authorEmail,
  };
}
