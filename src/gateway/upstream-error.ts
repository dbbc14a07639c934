import { errnoOf } from "../core/errno.ts";
import { type Refusal, upstreamFailure } from "./refusal.ts";

const TIMEOUTS = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/;
/** OpenSSL's words and Node's for a certificate that is not to be trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|ERR_TLS/;
const NAME = /^(?:ENOTFOUND|EAI_AGAIN)$/;

/** What a person is told when the upstream gave no answer, or broke off. */
export function upstreamError(error: unknown, host: string): Refusal {
  const code = codeOf(error);
  if (TIMEOUTS.test(code)) return upstreamFailure(504, `${host} did not answer in time.`);
  if (CERTIFICATE.test(code))
    return upstreamFailure(
      502,
      `The certificate of ${host} is not to be trusted (${code}), so nothing was sent; where a proxy of your company signs certificates, name its certificate in NODE_EXTRA_CA_CERTS on the host.`,
    );
  if (NAME.test(code))
    return upstreamFailure(
      502,
      `The name ${host}, or that of its proxy, is not known to the host (${code}).`,
    );
  const [, status] = /Proxy response \((\d{3})\)/.exec(messageOf(error)) ?? [];
  if (status !== undefined)
    return upstreamFailure(
      502,
      `The proxy of HTTPS_PROXY refused the way to ${host} (status ${status}).`,
    );
  return upstreamFailure(502, `${host} could not be reached, or broke off (${code}).`);
}

/** undici wraps what happened to a connection, at times in an AggregateError of all addresses. */
function codeOf(error: unknown): string {
  const code = errnoOf(error);
  if (code !== "unknown" && code !== "UND_ERR_ABORTED") return code;
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined) return codeOf(error.cause);
  return code;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
