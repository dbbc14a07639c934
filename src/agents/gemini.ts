import { command } from "./command.ts";
import type { AgentAdapter } from "./port.ts";
import { promptArgument } from "./prompt-argument.ts";

/** Google's Gemini CLI. */
export const gemini: AgentAdapter = {
  name: "gemini",
  kind: "hosted",
  providers: ["gemini"],
  credentialNames: ["GEMINI_API_KEY"],
  versionArgv: ["gemini", "--version"],
  launch(request) {
    return { argv: ["gemini", "--yolo", "-p", promptArgument(request)], env: {}, homeFiles: {} };
  },
  parser: command.parser,
};
