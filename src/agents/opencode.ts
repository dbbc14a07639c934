import { command } from "./command.ts";
import type { AgentAdapter } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/** opencode. */
export const opencode: AgentAdapter = {
  name: "opencode",
  kind: "hosted",
  providers: ["openai", "anthropic", "gemini", "compatible"],
  credentialNames: ["OPENAI_API_KEY"],
  versionArgv: ["opencode", "--version"],
  launch(request) {
    return { argv: ["opencode", "run", promptArgument(request)], env: {}, homeFiles: {} };
  },
  parser: command.parser,
};
