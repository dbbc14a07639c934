import type { AgentAdapter, ModelApi } from "./port.ts";

/** `--agent command -- PROGRAM ARGS`: any program of the image. It finds its prompt by GUARDLOOP_PROMPT. */
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

/** The variables by which programs of each provider's making commonly find the API. */
function variables({
  provider,
  origin,
  placeholderKey,
}: ModelApi): Readonly<Record<string, string>> {
  switch (provider) {
    case "openai":
    case "compatible":
      return { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: placeholderKey };
    case "anthropic":
      return { ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: placeholderKey };
    case "gemini":
      return { GOOGLE_GEMINI_BASE_URL: origin, GEMINI_API_KEY: placeholderKey };
  }
}
