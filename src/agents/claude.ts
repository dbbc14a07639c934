import { claudeParser } from "./claude-events.ts";
import { SANDBOX_OFF } from "./inner-sandbox.ts";
import type { AgentAdapter, LaunchRequest, ModelApi } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/** The project's memory file is read by way of the user's own: with the project's settings it would not be. */
const MEMORY = "@/workspace/CLAUDE.md\n";

/**
 * Anthropic's Claude Code. It asks for no permission: the container is the boundary. It refuses that as
 * root, which a run never is. In the mode `bridge` it reads its credentials and ANTHROPIC_BASE_URL from the environment
 * by itself.
 */
export const claude: AgentAdapter = {
  name: "claude",
  kind: "hosted",
  providers: ["anthropic"],
  credentialNames: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"],
  versionArgv: ["claude", "--version"],
  launch(request) {
    return {
      argv: call(request, []),
      env: {
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ...(request.modelApi === undefined ? {} : gatewayEnvironment(request.modelApi)),
      },
      homeFiles: { ".claude/CLAUDE.md": MEMORY },
      innerSandbox: SANDBOX_OFF,
    };
  },
  resume: (request) => call(request, ["--continue"]),
  parser: claudeParser,
};

function call(request: LaunchRequest, turn: readonly string[]): readonly string[] {
  return [
    "claude",
    "-p",
    ...turn,
    "--dangerously-skip-permissions",
    "--output-format",
    "stream-json",
    "--verbose",
    // No file of the project says what this program does: neither .claude/settings.json, settings.local.json nor .mcp.json.
    "--setting-sources=user",
    "--strict-mcp-config",
    `--settings=${JSON.stringify(settings(request))}`,
    ...(request.model === undefined ? [] : ["--model", request.model]),
    ...request.extraArgs,
    // A prompt may begin with dashes, and an option that takes a list would swallow it.
    "--",
    promptArgument(request),
  ];
}

/** Hooks are commands that files of the project bring; tools that need another way out only waste the model's time. */
function settings({ modelApi, serverTools = [] }: LaunchRequest) {
  const deny = serverTools.includes("web_search") ? ["WebFetch"] : ["WebFetch", "WebSearch"];
  return {
    disableAllHooks: true,
    ...(modelApi === undefined ? {} : { permissions: { deny } }),
  };
}

/** An empty value is one that is not there, and nothing else can then set it. */
function gatewayEnvironment({
  origin,
  placeholderKey,
}: ModelApi): Readonly<Record<string, string>> {
  return {
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_API_KEY: placeholderKey,
    ANTHROPIC_AUTH_TOKEN: "",
    CLAUDE_CODE_OAUTH_TOKEN: "",
    CLAUDE_CODE_USE_BEDROCK: "",
    CLAUDE_CODE_USE_VERTEX: "",
    CLAUDE_CODE_USE_FOUNDRY: "",
  };
}
