import { geminiParser } from "./gemini-events.ts";
import { SANDBOX_OFF } from "./inner-sandbox.ts";
import type { AgentAdapter, LaunchRequest, ModelApi } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/** The image's settings file, which the program lets win over a project's, because it belongs to root. */
const SYSTEM_SETTINGS = "/etc/gemini-cli/settings.json";

/** For an image that has no such file; what is not in there a project's own settings can change. */
const SETTINGS = {
  // It tries again in silence, for minutes with the usual ten attempts.
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 5 },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  security: { auth: { selectedType: "gemini-api-key" } },
  hooksConfig: { enabled: false },
  advanced: { ignoreLocalEnv: true },
} as const;

/** Google's Gemini CLI. */
export const gemini: AgentAdapter = {
  name: "gemini",
  kind: "hosted",
  // 0.61 sets GIT_CONFIG_GLOBAL to the null device for its shell tool.
  gitIdentity: "environment",
  providers: ["gemini"],
  credentialNames: ["GEMINI_API_KEY"],
  versionArgv: ["gemini", "--version"],
  launch(request) {
    const { modelApi } = request;
    return {
      argv: call(request, []),
      env: {
        GEMINI_CLI_SYSTEM_SETTINGS_PATH: SYSTEM_SETTINGS,
        GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "/etc/gemini-cli/system-defaults.json",
        GEMINI_SANDBOX: "false",
        GEMINI_TELEMETRY_ENABLED: "false",
        ...(modelApi === undefined ? {} : gatewayEnvironment(modelApi)),
      },
      homeFiles: {
        ".gemini/settings.json": `${JSON.stringify(SETTINGS, null, 2)}\n`,
        ...(modelApi === undefined ? {} : { ".gemini/policies/guardloop.toml": policy(request) }),
      },
      innerSandbox: SANDBOX_OFF,
    };
  },
  resume: (request) => call(request, ["--resume=latest"]),
  parser: geminiParser,
};

function call(request: LaunchRequest, turn: readonly string[]): readonly string[] {
  return [
    "gemini",
    ...turn,
    "--approval-mode=yolo",
    "--output-format=stream-json",
    // Else it does not work at all where nobody can be asked. What trust lets in is shut off one by one.
    "--skip-trust",
    "--allowed-mcp-server-names=none",
    "--extensions=none",
    ...(request.model === undefined ? [] : ["--model", request.model]),
    ...request.extraArgs,
    // One word: a prompt may begin with dashes.
    `--prompt=${promptArgument(request)}`,
  ];
}

/** Tools that need another way out than the model API are not offered. A project's policies rank below a user's. */
function policy({ serverTools = [] }: LaunchRequest): string {
  const search = serverTools.includes("google_search") ? [] : ["google_web_search"];
  const tools = JSON.stringify(["web_fetch", ...search]);
  return `[[rule]]\ntoolName = ${tools}\ndecision = "deny"\npriority = 999\n`;
}

/**
 * A project's .gemini/.env sets what is not set, so what matters is set, if only to nothing. The address must be plain
 * http to a loopback address, or https.
 */
function gatewayEnvironment({
  origin,
  placeholderKey,
}: ModelApi): Readonly<Record<string, string>> {
  return {
    GOOGLE_GEMINI_BASE_URL: origin,
    GEMINI_API_KEY: placeholderKey,
    ...Object.fromEntries(UNSET.map((name) => [name, ""])),
  };
}

const UNSET = [
  "CODE_ASSIST_ENDPOINT",
  "GEMINI_CLI_HOME",
  "GEMINI_SYSTEM_MD",
  "GEMINI_WRITE_SYSTEM_MD",
  "GOOGLE_API_KEY",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_GENAI_API_VERSION",
  "GOOGLE_GENAI_USE_GCA",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_VERTEX_BASE_URL",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NODE_OPTIONS",
  "https_proxy",
  "http_proxy",
] as const;
