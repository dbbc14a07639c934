import type { IncomingMessage } from "node:http";
import type { GatewaySpec } from "../core/egress.ts";
import { type Result, err, ok } from "../core/result.ts";
import type { Provider, Route, ServerTool } from "./providers/provider.ts";
import { type Refusal, refusal } from "./refusal.ts";
import { hasBody } from "./request-body.ts";
import { parseTarget } from "./target.ts";

/** The relay in the container, by the names it may be reached by; the guest itself says `guardloop`. */
const HOSTS = /^(?:guardloop|(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?)$/i;

/** Whether the API knows such a request: method, host and target, before any of its body is read. */
export function checkHead(request: IncomingMessage, provider: Provider): Result<Route, Refusal> {
  const method = request.method ?? "";
  const hosts = request.headersDistinct["host"] ?? [];
  const host = hosts.join(", ");
  if (!HOSTS.test(host))
    return err(
      refusal(
        403,
        `It passes requests on to the model API alone, and this one is for ${quoted(host)}.`,
      ),
    );
  const target = parseTarget(request.url ?? "");
  const route = target === undefined ? undefined : provider.route(method, target);
  if (route === undefined) return err(refusal(403, notAllowed(request, provider)));
  if (method === "GET" && hasBody(request))
    return err(refusal(400, "A GET request must not have a body."));
  return ok(route);
}

function notAllowed({ method = "", url = "" }: IncomingMessage, provider: Provider): string {
  const path = url.replace(/[?#].*$/s, "");
  return `${quoted(`${method} ${path}`)} is not among the requests that it passes on, or has a query that is not; these are ${provider.allowed}.`;
}

/** Whether the provider would do something on its side that the user has not allowed by name. */
export function checkTools(
  found: readonly ServerTool[],
  allowed: GatewaySpec["serverTools"],
): Refusal | undefined {
  const [first, ...others] = found.filter(({ name }) => !allowed.includes(name));
  if (first === undefined) return undefined;
  const more = [...new Set(others.map(({ name }) => name))].filter((name) => name !== first.name);
  const also = more.length === 0 ? "" : ` So are ${more.slice(0, 10).join(", ")}.`;
  const as = first.written === first.name ? "" : ` (${quoted(first.written)})`;
  return refusal(
    403,
    `${first.name}${as} is something the model's provider would do on its side, a way out of this container, and is refused.${also} The user can allow it by name: gateway.server_tools, or --server-tool ${first.name}.`,
  );
}

/** Text of the client's, bounded; made visible where it is printed. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
