import { codexParser } from "./codex-events.ts";
import type { AgentAdapter } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/**
 * Two things `codex exec` (0.171) does not do by itself, decided in the container because only there the values are:
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
`.trimStart();

/** OpenAI's Codex CLI. Its own sandbox is off on purpose: the container is the sandbox. */
export const codex: AgentAdapter = {
  name: "codex",
  kind: "hosted",
  providers: ["openai", "compatible"],
  credentialNames: ["OPENAI_API_KEY", "CODEX_API_KEY"],
  versionArgv: ["codex", "--version"],
  launch(request) {
    return {
      argv: [
        "sh",
        "-c",
        START,
        "codex",
        "--dangerously-bypass-approvals-and-sandbox",
        "--json",
        "--skip-git-repo-check",
        ...(request.model === undefined ? [] : ["--model", request.model]),
        ...request.extraArgs,
        // A prompt may begin with dashes.
        "--",
        promptArgument(request),
      ],
      env: {},
      homeFiles: { ".codex/config.toml": CONFIG },
    };
  },
  parser: codexParser,
};
