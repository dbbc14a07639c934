import type { HostEnvironment, ProxySettings } from "../../core/environment.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Credential, CredentialValue } from "../port.ts";
import { openUpstream } from "../upstream.ts";
import { type CodexAuth, codexAuthPath } from "./codex-auth-file.ts";
import { CODEX_REFRESH, type RefreshEndpoint } from "./codex-refresh.ts";
import { type Renewal, isFresh, readOrRenew } from "./codex-renewal.ts";
import type { CredentialProblem } from "./credential-problem.ts";

const RENEWAL_SILENCE_MS = 30_000;

export interface CodexLoginServices {
  readonly env: Pick<HostEnvironment, "read" | "home" | "stateDir" | "hostname" | "proxy">;
  readonly onNotice: (sentence: string) => void;
  readonly now?: () => Date;
  readonly codexRefresh?: RefreshEndpoint;
}

/**
 * The ChatGPT login that the Codex CLI keeps on this host. Its refresh token is good for one use, so this process renews
 * it, under a lock, and the container never sees any of it.
 */
export async function codexLogin(
  services: CodexLoginServices,
): Promise<Result<Credential, CredentialProblem>> {
  const endpoint = services.codexRefresh ?? (await codexEndpoint(services.env.proxy));
  const credential = codexCredential({ ...services, codexRefresh: endpoint });
  // Now, and not with the first request: a login that is over is said before anything is made.
  const first = await credential.value();
  if (first.ok) return ok(credential);
  return err({
    problem: first.error.replace(/^The login/, "the login").replace(/\.$/, ""),
    cure: "Run `codex login` on this machine, then run the task again; or use an API key.",
  });
}

/** Reached like the model API, through the proxy of the user's where there is one; what is wrong with that is said there. */
async function codexEndpoint(proxy: ProxySettings): Promise<RefreshEndpoint> {
  const { tokenUrl } = CODEX_REFRESH;
  const way = await openUpstream({ address: tokenUrl, proxy, silenceMs: RENEWAL_SILENCE_MS });
  return way.ok ? { tokenUrl, dispatcher: way.value.dispatcher } : CODEX_REFRESH;
}

function codexCredential(services: CodexLoginServices): Credential {
  const secrets = new Set<string>();
  let current: CodexAuth | undefined;
  let renewing: Promise<Result<CodexAuth, string>> | undefined;
  const now = services.now ?? (() => new Date());
  const renewal: Renewal = {
    path: codexAuthPath(services.env),
    env: services.env,
    endpoint: services.codexRefresh ?? CODEX_REFRESH,
    now,
    onNotice: services.onNotice,
    onSeen: (auth) => {
      for (const secret of auth.secrets) secrets.add(secret);
    },
  };
  const renew = async (): Promise<Result<CodexAuth, string>> => {
    try {
      const renewed = await readOrRenew(renewal);
      if (renewed.ok) current = renewed.value;
      return renewed;
    } finally {
      renewing = undefined;
    }
  };
  return {
    shown: "login:codex",
    async value(): Promise<Result<CredentialValue, string>> {
      if (current !== undefined && isFresh(current, now())) return ok(valueOf(current));
      renewing ??= renew();
      const renewed = await renewing;
      return renewed.ok ? ok(valueOf(renewed.value)) : renewed;
    },
    secrets: () => [...secrets],
  };
}

function valueOf({ accessToken, accountId }: CodexAuth): CredentialValue {
  return {
    kind: "bearer",
    secret: accessToken,
    headers: { "chatgpt-account-id": accountId },
  };
}
