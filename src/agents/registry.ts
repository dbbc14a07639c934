import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { command } from "./command.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import type { AgentAdapter } from "./port.ts";

const ADAPTERS: { readonly [Name in AgentAdapter["name"]]: AgentAdapter } = {
  command,
  codex,
  claude,
  gemini,
  opencode,
};

/** The adapter of an agent. Names come from the settings, which are checked before. */
export function agentAdapter(name: AgentAdapter["name"]): AgentAdapter {
  return ADAPTERS[name];
}
