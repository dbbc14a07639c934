import type { IncomingHttpHeaders } from "node:http";
import type { Headers, Provider } from "./providers/provider.ts";

/**
 * Lists of what passes, not of what does not: a client's credentials, cookies and forwarding headers are left behind
 * because they are on none. `accept-encoding` is not, so that an answer comes plain and its tokens can be read.
 */
const REQUEST = /^(?:accept|accept-language|content-type|user-agent|x-stainless-[a-z0-9-]+)$/;
const RESPONSE =
  /^(?:content-type|content-length|content-encoding|cache-control|date|retry-after|retry-after-ms|x-should-retry|request-id|x-request-id|server-timing)$/;
/** What may be in a header's value; Node throws at anything else. */
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

export function requestHeaders(client: IncomingHttpHeaders, provider: Provider): Headers {
  return passing(client, (name) => REQUEST.test(name) || provider.requestHeaders.test(name));
}

export function responseHeaders(upstream: IncomingHttpHeaders, provider: Provider): Headers {
  return passing(upstream, (name) => RESPONSE.test(name) || provider.responseHeaders.test(name));
}

function passing(headers: IncomingHttpHeaders, may: (name: string) => boolean): Headers {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(", ") : value;
    const lower = name.toLowerCase();
    if (text !== undefined && may(lower) && VALUE.test(text)) passed[lower] = text;
  }
  return passed;
}
