import type { AgentName } from "../../core/agent-name.ts";
import type { ProviderName } from "../../core/network.ts";
import type { LoginName, Reference } from "./reference.ts";

export interface Login {
  /** The one agent it is for: such a login belongs to its provider's own program. */
  readonly agent: AgentName;
  readonly provider: ProviderName;
  /** Where it is good for, in place of the setting's address; undefined for the setting's. */
  readonly upstream: string | undefined;
  /** One sentence about the provider's terms, for the start of a run. */
  readonly notice: string;
}

export const LOGINS: Readonly<Record<LoginName, Login>> = {
  claude: {
    agent: "claude",
    provider: "anthropic",
    upstream: undefined,
    notice:
      "login:claude uses your own Claude subscription: Anthropic allows such a login for your own ordinary use of Claude Code, and not for work on behalf of others; whether unattended runs are that is for you to decide, and an API key has no such bounds.",
  },
  codex: {
    agent: "codex",
    provider: "openai",
    upstream: "https://chatgpt.com/backend-api/codex",
    notice:
      "login:codex uses your own ChatGPT login, within your plan's limits and OpenAI's terms for it; for automation OpenAI recommends an API key, and a login must not be used by several machines at once.",
  },
};

/** What to say at the start of a run about the provider's terms; undefined for a reference that is no login. */
export function loginNotice(reference: Reference): string | undefined {
  return reference.kind === "login" ? LOGINS[reference.name].notice : undefined;
}

/** The base address a login is good for; undefined where the setting's address holds. */
export function loginUpstream(reference: Reference): string | undefined {
  return reference.kind === "login" ? LOGINS[reference.name].upstream : undefined;
}
