import { request } from "node:http";
import type { EgressEntry } from "../../core/egress.ts";
import { isRefusedCredential } from "../../core/egress-totals.ts";
import type { HostEnvironment } from "../../core/environment.ts";
import { type Failure, fail } from "../../core/failures.ts";
import { type ProviderName, clientBasePath } from "../../core/network.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Credential, Meter } from "../../gateway/port.ts";
import { socketsOf } from "./sockets.ts";

export interface TryModelApi {
  readonly env: HostEnvironment;
  readonly provider: ProviderName;
  readonly upstream: string;
  readonly credential: Credential | null;
  /** What the API behind a Codex login wants to know of its client. */
  readonly clientVersion: string;
  readonly deadlineMs: number;
}

/** `accepted`: it gave its list of models. `unknown`: it answered otherwise, with that status. */
export interface Tried {
  readonly kind: "accepted" | "unknown";
  readonly status: number;
}

/** A list of models costs nothing. */
const FREE: Meter = {
  admit: () => ok({ used: () => null, withdrawn: () => undefined }),
  sawLimit: () => undefined,
  exhausted: () => undefined,
};
const MOST_REQUEST_BYTES = 16 * 1024;

/**
 * Asks a model API for its list of models, through a gateway like a run's, with the real credential. Sends nothing else.
 *
 * @returns `model-unauthenticated` where the credential is refused; `model-unreachable` where it gives no answer.
 */
export async function tryModelApi(at: TryModelApi): Promise<Result<Tried, Failure>> {
  const { provider, upstream } = at;
  const sockets = await socketsOf(at, `doctor-${process.pid}`);
  if (!sockets.ok) return sockets;
  let entry: EgressEntry | undefined;
  const { openModelGateway } = await import("../../gateway/model-gateway.ts");
  const opened = await openModelGateway({
    spec: { provider, upstream, serverTools: [], maxRequestBytes: MOST_REQUEST_BYTES },
    directory: sockets.value.directory,
    credential: at.credential ?? undefined,
    meter: FREE,
    sink: { add: (one) => void (entry = one) },
    proxy: at.env.proxy,
  });
  if (!opened.ok) return opened;
  let status: number | undefined;
  {
    // Closed before it is judged: the entry is there when the request is over.
    await using gateway = opened.value;
    status = await askForModels(gateway.socketPath, at);
  }
  return judge(at, status, entry);
}

function judge(
  at: TryModelApi,
  status: number | undefined,
  entry: EgressEntry | undefined,
): Result<Tried, Failure> {
  const { host } = new URL(at.upstream);
  if (status === undefined)
    return unreachable(`${host} did not answer within ${at.deadlineMs / 1000} seconds.`);
  if (entry !== undefined && entry.outcome !== "answered")
    return unreachable(entry.reason ?? `${host} gave no answer.`);
  if (isRefusedCredential(status)) return unauthenticated(at, host, status);
  return ok({ kind: status >= 200 && status < 300 ? "accepted" : "unknown", status });
}

function unauthenticated(
  { provider, credential }: TryModelApi,
  host: string,
  status: number,
): Result<never, Failure> {
  const setting = `credential.${provider}`;
  if (credential === null)
    return fail(
      "model-unauthenticated",
      `${host} wants a credential (it answered ${status}), and ${setting} names none.`,
      { cure: `Set ${setting} to where it is, for example env:NAME; see docs/credentials.md.` },
    );
  return fail(
    "model-unauthenticated",
    `The credential of ${setting} = ${credential.shown} was refused: ${host} answered ${status}.`,
    {
      cure: "Renew it at the provider, or name the right place; see docs/credentials.md.",
    },
  );
}

function unreachable(message: string): Result<never, Failure> {
  return fail("model-unreachable", message, {
    cure: "Look at this host's network, at HTTPS_PROXY, and at the address in [upstream].",
  });
}

/** @returns the status; undefined where none came in time. */
function askForModels(socketPath: string, at: TryModelApi): Promise<number | undefined> {
  const { provider, credential, clientVersion } = at;
  const base = provider === "gemini" ? "/v1beta" : clientBasePath(provider) || "/v1";
  const query = credential?.shown === "login:codex" ? `?client_version=${clientVersion}` : "";
  return new Promise((resolve) => {
    const asking = request({
      socketPath,
      path: `${base}/models${query}`,
      headers: {
        host: "guardloop",
        ...(provider === "anthropic" ? { "anthropic-version": "2023-06-01" } : {}),
      },
      signal: AbortSignal.timeout(at.deadlineMs),
    });
    asking.on("response", (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
      response.on("error", () => resolve(response.statusCode));
    });
    asking.on("error", () => resolve(undefined));
    asking.end();
  });
}
