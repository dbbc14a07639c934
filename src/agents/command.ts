import { type ProviderName, clientBaseUrl } from "../core/network.ts";
import type { AgentAdapter, ModelApi } from "./port.ts";

/** Where programs commonly look for the address and the key of each API. */
const VARIABLES: Readonly<
  Record<ProviderName, { readonly address: string; readonly key: string }>
> = {
  openai: { address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY" },
  compatible: { address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY" },
  anthropic: { address: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY" },
  gemini: { address: "GOOGLE_GEMINI_BASE_URL", key: "GEMINI_API_KEY" },
};

/**
 * `--agent command -- PROGRAM ARGS`: any program of the image. It finds its prompt by GUARDLOOP_PROMPT, and with a
 * gateway the model API by the variables that programs for that API commonly read.
 */
export const command: AgentAdapter = {
  name: "command",
  kind: "local",
  providers: [],
  credentialNames: [],
  // Any program: with an argument it does not know it might do its whole work.
  versionArgv: [],
  launch({ extraArgs, modelApi }) {
    if (extraArgs.length === 0)
      throw new Error("agent `command` was launched without a program; the settings check this");
    return {
      argv: extraArgs,
      env: modelApi === undefined ? {} : variables(modelApi),
      homeFiles: {},
    };
  },
  parser() {
    return (line) => [{ type: "output", text: line }];
  },
};

function variables({ provider, origin, placeholderKey }: ModelApi): Record<string, string> {
  const { address, key } = VARIABLES[provider];
  return { [address]: clientBaseUrl(provider, origin), [key]: placeholderKey };
}
