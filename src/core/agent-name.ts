/** Agents that guardloop can start. `command` is any program of the image. */
export const AGENT_NAMES = ["command", "codex", "claude", "gemini", "opencode"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];
