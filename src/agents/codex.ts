import { codexParser } from "./codex-events.ts";
import { SANDBOX_OFF } from "./inner-sandbox.ts";
import type { AgentAdapter, LaunchRequest, ModelApi } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/**
 * Two things `codex exec` (0.171) does not do by itself, decided in the container because only there the values are; for
 * the network mode `bridge`, where keys are passed by name:
 * - it reads its key from CODEX_API_KEY and ignores OPENAI_API_KEY;
 * - it ignores OPENAI_BASE_URL. Its built-in provider would first try a WebSocket seven times, which few
 *   proxies speak, so another address gets the provider of CONFIG. A value of `-c` that is not TOML is taken
 *   as it is, so the address needs no quoting.
 *
 * `exec` leaves no shell between the guest and the agent.
 */
const START = `
if [ -z "\${CODEX_API_KEY-}" ] && [ -n "\${OPENAI_API_KEY-}" ]; then
  export CODEX_API_KEY="$OPENAI_API_KEY"
fi
if [ -n "\${OPENAI_BASE_URL-}" ]; then
  set -- -c model_provider=guardloop -c "model_providers.guardloop.base_url=$OPENAI_BASE_URL" "$@"
fi
exec codex exec "$@"
`.trim();

/**
 * The commands the model runs do not get the keys, so that a careless `env` does not put one into the log. That
 * is tidiness, not a boundary: they run as the same user as codex.
 *
 * Without `plugins = false` codex asks github.com and chatgpt.com for its list of plugins at every start, for a home
 * that is thrown away, and what it finds there becomes part of what the model is told.
 *
 * An untrusted project's .codex directory (configuration, hooks, rules) is not read.
 */
const CONFIG = `
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[shell_environment_policy]
exclude = ["CODEX_API_KEY", "OPENAI_API_KEY"]

[model_providers.guardloop]
name = "guardloop"
wire_api = "responses"
env_key = "CODEX_API_KEY"
supports_websockets = false

[projects."/workspace"]
trust_level = "untrusted"
`.trimStart();

/** Of an untrusted project AGENTS.md is not read either, so the user's own says where it is. */
const INSTRUCTIONS = `
If the file /workspace/AGENTS.md exists, read it before you do anything else and follow it. The same holds for an AGENTS.md in
a directory that you work in.
`.trimStart();

/** OpenAI's Codex CLI. */
export const codex: AgentAdapter = {
  name: "codex",
  kind: "hosted",
  providers: ["openai", "compatible"],
  credentialNames: ["OPENAI_API_KEY", "CODEX_API_KEY"],
  versionArgv: ["codex", "--version"],
  launch(request) {
    const { modelApi } = request;
    return {
      argv: call(request, []),
      env: modelApi === undefined ? {} : { CODEX_API_KEY: modelApi.placeholderKey },
      homeFiles: { ".codex/config.toml": CONFIG, ".codex/AGENTS.md": INSTRUCTIONS },
      innerSandbox: SANDBOX_OFF,
    };
  },
  resume: (request) => call(request, ["resume", "--last"]),
  parser: codexParser,
};

/** @param verb what stands between the options and the prompt. */
function call(request: LaunchRequest, verb: readonly string[]): readonly string[] {
  const { modelApi, model, extraArgs } = request;
  const start = modelApi === undefined ? ["sh", "-c", START, "codex"] : ["codex", "exec"];
  return [
    ...start,
    ...(modelApi === undefined ? [] : gatewayOptions(modelApi, request.serverTools ?? [])),
    "--dangerously-bypass-approvals-and-sandbox",
    "--json",
    "--skip-git-repo-check",
    ...(model === undefined ? [] : ["--model", model]),
    ...extraArgs,
    ...verb,
    // A prompt may begin with dashes.
    "--",
    promptArgument(request),
  ];
}

/** Options win over every file. A whole table is set, so that no file can add to what matters of it. */
function gatewayOptions({ origin }: ModelApi, serverTools: readonly string[]): readonly string[] {
  const provider = [
    `name="guardloop"`,
    `base_url="${origin}/v1"`,
    `wire_api="responses"`,
    `env_key="CODEX_API_KEY"`,
    `supports_websockets=false`,
    `requires_openai_auth=false`,
  ];
  const search = serverTools.includes("web_search") ? "live" : "disabled";
  return [
    "-c",
    "model_provider=guardloop",
    "-c",
    `model_providers.guardloop={${provider.join(",")}}`,
    "-c",
    `web_search="${search}"`,
  ];
}
