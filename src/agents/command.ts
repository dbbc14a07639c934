import type { AgentAdapter } from "./port.ts";

/** `--agent command -- PROGRAM ARGS`: any program of the image. It finds its prompt by GUARDLOOP_PROMPT. */
export const command: AgentAdapter = {
  name: "command",
  kind: "local",
  providers: [],
  credentialNames: [],
  // Any program: with an argument it does not know it might do its whole work.
  versionArgv: [],
  launch({ extraArgs }) {
    if (extraArgs.length === 0)
      throw new Error("agent `command` was launched without a program; the settings check this");
    return { argv: extraArgs, env: {}, homeFiles: {} };
  },
  parser() {
    return (line) => [{ type: "output", text: line }];
  },
};
