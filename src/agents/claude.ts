import { claudeParser } from "./claude-events.ts";
import type { AgentAdapter } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/**
 * Anthropic's Claude Code. It asks for no permission: the container is the boundary. It refuses that as
 * root, which a run never is. It reads its credentials and ANTHROPIC_BASE_URL from the environment by itself.
 */
export const claude: AgentAdapter = {
  name: "claude",
  kind: "hosted",
  providers: ["anthropic"],
  credentialNames: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"],
  versionArgv: ["claude", "--version"],
  launch(request) {
    return {
      argv: [
        "claude",
        "-p",
        "--dangerously-skip-permissions",
        "--output-format",
        "stream-json",
        "--verbose",
        ...(request.model === undefined ? [] : ["--model", request.model]),
        ...request.extraArgs,
        // A prompt may begin with dashes, and an option that takes a list would swallow it.
        "--",
        promptArgument(request),
      ],
      env: {
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
      homeFiles: {},
    };
  },
  parser: claudeParser,
};
