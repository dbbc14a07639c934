import { SANDBOX_OFF } from "./inner-sandbox.ts";
import { opencodeParser } from "./opencode-events.ts";
import type { AgentAdapter, LaunchRequest, ModelApi } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/**
 * The program is a Bun executable, and Bun reads .env and bunfig.toml of the directory it is started in, before the
 * program has a say: it starts in the empty home, and is told where to work.
 */
const START = `
work=$PWD
cd "$HOME"
exec opencode run --dir "$work" "$@"
`.trim();

/** How opencode names the providers, and what of the gateway's address they want. */
const PROVIDERS: Readonly<
  Record<ModelApi["provider"], { readonly id: string; readonly path: string }>
> = {
  openai: { id: "openai", path: "/v1" },
  anthropic: { id: "anthropic", path: "/v1" },
  gemini: { id: "google", path: "/v1beta" },
  compatible: { id: "guardloop", path: "/v1" },
};

/** opencode. */
export const opencode: AgentAdapter = {
  name: "opencode",
  kind: "hosted",
  providers: ["openai", "anthropic", "gemini", "compatible"],
  credentialNames: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"],
  versionArgv: ["opencode", "--version"],
  launch(request) {
    return {
      argv: call(request, []),
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config(request)),
        OPENCODE_PERMISSION: JSON.stringify(permission(request)),
        ...OFF,
      },
      homeFiles: {},
      innerSandbox: SANDBOX_OFF,
    };
  },
  resume: (request) => call(request, ["--continue"]),
  parser: opencodeParser,
};

/**
 * The project's opencode.json and .opencode (configuration, plugins, which are programs, and commands) are not read. Then its
 * AGENTS.md would not be either, so the configuration names it.
 */
const OFF = {
  OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  OPENCODE_PURE: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_SHARE: "1",
  OPENCODE_DISABLE_EMBEDDED_WEB_UI: "1",
} as const;

function call(request: LaunchRequest, turn: readonly string[]): readonly string[] {
  const model = modelName(request);
  return [
    "sh",
    "-c",
    START,
    "opencode",
    ...turn,
    "--format=json",
    "--thinking",
    "--auto",
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...request.extraArgs,
    // A prompt may begin with dashes.
    "--",
    promptArgument(request),
  ];
}

/**
 * opencode wants `PROVIDER/MODEL`; with the gateway the provider is known. Its list of the large providers' models is built
 * in; of another server nothing is known, and many local ones serve one model whatever it is called.
 */
function modelName({ model, modelApi }: LaunchRequest): string | undefined {
  if (modelApi === undefined) return model;
  const { id } = PROVIDERS[modelApi.provider];
  const name = model ?? (modelApi.provider === "compatible" ? ANY_MODEL : undefined);
  return name === undefined ? undefined : `${id}/${name}`;
}

const ANY_MODEL = "default";

function config(request: LaunchRequest) {
  const common = {
    autoupdate: false,
    share: "disabled",
    instructions: ["/workspace/AGENTS.md"],
    permission: permission(request),
  };
  const { modelApi, model = ANY_MODEL } = request;
  if (modelApi === undefined) return common;
  const { id, path } = PROVIDERS[modelApi.provider];
  const options = { baseURL: `${modelApi.origin}${path}`, apiKey: modelApi.placeholderKey };
  const own =
    modelApi.provider === "compatible"
      ? {
          npm: "@ai-sdk/openai-compatible",
          name: "guardloop",
          models: { [model]: { name: model } },
        }
      : {};
  return { ...common, enabled_providers: [id], provider: { [id]: { ...own, options } } };
}

/** Nobody can be asked. Through the gateway a tool that needs another way out only wastes the model's time. */
function permission({ modelApi }: LaunchRequest): Readonly<Record<string, string>> {
  const web = modelApi === undefined ? {} : { webfetch: "deny", websearch: "deny" };
  return { "*": "allow", ...web };
}
