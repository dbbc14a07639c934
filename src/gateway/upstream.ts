import { readFile, stat } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { createSecureContext, rootCertificates } from "node:tls";
import { type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { ProxySettings } from "../core/environment.ts";
import { errnoOf } from "../core/errno.ts";
import { type Result, err, ok } from "../core/result.ts";
import { proxyAddress } from "./proxy-address.ts";

const LARGEST_CA_FILE = 4 * 1024 * 1024;
const LARGEST_HEADER = 64 * 1024;
const CONNECT_MS = 15_000;
const ON_THIS_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Where the gateway sends what it lets through; fixed for its life. */
export interface Upstream {
  /** Scheme, host and port. */
  readonly origin: string;
  /** For the record. */
  readonly host: string;
  /** What the base address has behind the host, without a slash at its end. */
  readonly basePath: string;
  readonly dispatcher: Dispatcher;
}

export interface UpstreamOptions {
  /** Base address, as the user wrote it. */
  readonly address: string;
  readonly proxy: ProxySettings;
  /** How long the upstream may say nothing, before and in its answer. */
  readonly silenceMs: number;
}

/**
 * Certificates are always verified; plain http is for those who wrote an address that begins with it. Redirects are
 * not followed. Through the user's proxy, unless the upstream is on this host.
 *
 * @returns a sentence when the settings of the proxy or a certificate file cannot be used.
 */
export async function openUpstream(options: UpstreamOptions): Promise<Result<Upstream, string>> {
  const { address, proxy, silenceMs } = options;
  const { origin, host, hostname, pathname } = new URL(address);
  const trusted = await trust(proxy.caFiles);
  if (!trusted.ok) return trusted;
  const isNear = ON_THIS_HOST.test(hostname);
  const proxies = [proxy.httpsProxy, proxy.httpProxy].map((text) =>
    text === undefined ? undefined : proxyAddress(text, "HTTPS_PROXY or HTTP_PROXY"),
  );
  const unusable = proxies.find((one) => one !== undefined && !one.ok);
  if (!isNear && unusable?.ok === false) return unusable;
  const [httpsProxy, httpProxy] = proxies.map((one) => (one?.ok === true ? one.value.href : ""));
  const tls = { ...trusted.value, timeout: CONNECT_MS };
  const dispatcher = new EnvHttpProxyAgent({
    // Empty texts, so that undici does not look into the environment itself.
    httpsProxy: httpsProxy ?? "",
    httpProxy: httpProxy ?? "",
    noProxy: isNear ? "*" : proxy.noProxy,
    connect: tls,
    requestTls: tls,
    proxyTls: tls,
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    maxHeaderSize: LARGEST_HEADER,
    allowH2: false,
  });
  return ok({ origin, host, basePath: pathname.replace(/\/+$/, ""), dispatcher });
}

/** Node's own certificates and those of the files; made once, since taking them in is slow. */
async function trust(
  files: readonly string[],
): Promise<Result<{ readonly secureContext?: ReturnType<typeof createSecureContext> }, string>> {
  const extra: string[] = [];
  for (const file of files) {
    const text = await certificates(file);
    if (!text.ok) return text;
    extra.push(text.value);
  }
  if (extra.length === 0) return ok({});
  return ok({ secureContext: createSecureContext({ ca: [...rootCertificates, ...extra] }) });
}

/** OpenSSL passes by what it cannot read, without a word. */
function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

async function certificates(file: string): Promise<Result<string, string>> {
  const variables = "NODE_EXTRA_CA_CERTS or SSL_CERT_FILE";
  try {
    const { size } = await stat(file);
    if (size > LARGEST_CA_FILE)
      return err(`The certificate file ${file} (${variables}) is larger than 4 MiB.`);
    const text = await readFile(file, "utf8");
    return isCertificate(text)
      ? ok(text)
      : err(`The certificate file ${file} (${variables}) holds no certificate in PEM form.`);
  } catch (error) {
    return err(`The certificate file ${file} (${variables}) cannot be read (${errnoOf(error)}).`);
  }
}
