import { type Result, err, ok } from "../core/result.ts";

/**
 * The address of the proxy that this host itself has to use, as HTTPS_PROXY and its like hold it, with or without a
 * scheme. HTTP proxies alone.
 *
 * @param named the variables it may have come from, for the sentence. The address may hold a password and is not repeated.
 */
export function proxyAddress(text: string, named: string): Result<URL, string> {
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== ""
    ? ok(url)
    : err(`The proxy in ${named} is not an address that begins with http:// or https://.`);
}
