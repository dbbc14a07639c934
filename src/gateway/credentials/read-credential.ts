import type { AgentName } from "../../core/agent-name.ts";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { ProviderName } from "../../core/network.ts";
import { type Result, err, ok, unreachable } from "../../core/result.ts";
import type { Credential } from "../port.ts";
import type { CredentialProblem } from "./credential-problem.ts";
import { secretFromCommand } from "./from-command.ts";
import { secretFromFile } from "./from-file.ts";
import { heldCredential } from "./held.ts";
import { claudeLogin } from "./login-claude.ts";
import type { RefreshEndpoint } from "./codex-refresh.ts";
import { codexLogin } from "./login-codex.ts";
import { LOGINS } from "./logins.ts";
import { type LoginName, type Reference, describeReference } from "./reference.ts";
import { secretIn } from "./secret-text.ts";

/** What reading a credential works with. */
export interface CredentialServices {
  readonly env: HostEnvironment;
  readonly provider: ProviderName;
  readonly agent: AgentName;
  /** Sentences for the user, for example that others can read the file. */
  readonly onNotice: (sentence: string) => void;
  readonly now?: () => Date;
  /** Ends a command that is running. */
  readonly signal?: AbortSignal;
  /** Where a login is renewed; the provider's own where it is missing. */
  readonly codexRefresh?: RefreshEndpoint;
}

/**
 * Reads a credential when a run starts. It is held in memory from then on; a login renews itself.
 *
 * @returns null for `none`; `credential-missing` with what is wrong and what to do, and never the value or a part of it.
 */
export async function readCredential(
  reference: Reference,
  services: CredentialServices,
): Promise<Result<Credential | null, Failure>> {
  if (reference.kind === "none") return ok(null);
  const read = await readAny(reference, services);
  if (read.ok) return read;
  const setting = `credential.${services.provider}`;
  return fail(
    "credential-missing",
    `The credential of ${setting} = ${describeReference(reference)} cannot be used: ${read.error.problem}.`,
    {
      cure:
        read.error.cure ??
        `Correct that, or set ${setting} to another place; see docs/credentials.md.`,
    },
  );
}

async function readAny(
  reference: Exclude<Reference, { kind: "none" }>,
  services: CredentialServices,
): Promise<Result<Credential, CredentialProblem>> {
  if (reference.kind === "login") return readLogin(reference.name, services);
  const secret = await readSecret(reference, services);
  if (!secret.ok) return err({ problem: secret.error });
  if (services.provider === "anthropic" && secret.value.startsWith("sk-ant-oat"))
    return err({
      problem: "it holds a token of `claude setup-token`, which is not an API key",
      cure: "Use an API key, or keep the token in CLAUDE_CODE_OAUTH_TOKEN and set credential.anthropic to login:claude.",
    });
  const value = { kind: "key", secret: secret.value, headers: {} } as const;
  return ok(heldCredential(describeReference(reference), value));
}

async function readSecret(
  reference: Exclude<Reference, { kind: "none" | "login" }>,
  { env, onNotice, signal }: CredentialServices,
): Promise<Result<string, string>> {
  switch (reference.kind) {
    case "env": {
      const text = env.read(reference.name);
      if (text === undefined) return err(`the variable ${reference.name} is not set`);
      const secret = secretIn(text);
      return secret.ok ? secret : err(`the variable ${reference.name} ${secret.error}`);
    }
    case "file":
      return secretFromFile(reference.path, { home: env.home, onNotice });
    case "command":
      return secretFromCommand(reference.words, { env, signal });
    default:
      return unreachable(reference);
  }
}

function readLogin(
  name: LoginName,
  services: CredentialServices,
): Promise<Result<Credential, CredentialProblem>> {
  const { agent, provider } = LOGINS[name];
  if (services.agent !== agent || services.provider !== provider)
    return Promise.resolve(
      err({
        problem: `this login is for the agent ${agent} and the provider ${provider} only, not for ${services.agent} with ${services.provider}`,
        cure: `Use an API key, for example credential.${services.provider} = "env:NAME", or the agent ${agent}.`,
      }),
    );
  switch (name) {
    case "claude":
      return claudeLogin(services);
    case "codex":
      return codexLogin(services);
    default:
      return unreachable(name);
  }
}
