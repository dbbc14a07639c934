import type { CredentialValue } from "../port.ts";
import type { Target } from "../target.ts";
import { anthropicUsage } from "./anthropic-usage.ts";
import { type JsonObject, isObject, isUnset, listOf, objectOf, objectsIn, textOf } from "./json.ts";
import type { Headers, Provider, Route, ServerTool } from "./provider.ts";
import { upstreamPath } from "./query.ts";
import { FILES, URL_FETCH, serverTool } from "./tool-name.ts";

const POSTS: Readonly<Record<string, Route["use"]>> = {
  "/v1/messages": "model",
  "/v1/messages/count_tokens": "about",
};
const MODELS = /^\/v1\/models(?:\/[A-Za-z0-9._:-]+)?$/;

/** Carried out by the client; `tool_search_tool` only sorts what the client offers. A tool without a type is custom. */
const CLIENT_TOOLS =
  /^(?:custom|(?:bash|text_editor|computer|memory|tool_search_tool_(?:regex|bm25))_\d{8}|tool_search_tool_(?:regex|bm25))$/;
/** What a block of a message may bring along without anything being fetched. */
const OWN_SOURCES = new Set(["base64", "text", "content"]);
/** Goes with a token of a subscription; see the headers that Claude Code sends. */
const OAUTH_BETA = "oauth-2025-04-20";

/** Anthropic's Messages API, as of https://docs.claude.com/en/api/messages. */
export const anthropic: Provider = {
  route(method: string, target: Target): Route | undefined {
    const { path } = target;
    if (method === "GET" && MODELS.test(path))
      return upstream(target, ["beta", "limit", "before_id", "after_id"], "about");
    const use = Object.hasOwn(POSTS, path) ? POSTS[path] : undefined;
    return method === "POST" && use !== undefined ? upstream(target, ["beta"], use) : undefined;
  },
  allowed: "POST /v1/messages, /v1/messages/count_tokens and GET /v1/models",
  authorize,
  requestHeaders:
    /^(?:anthropic-version|anthropic-beta|anthropic-dangerous-direct-browser-access|x-app|x-claude-code-[a-z0-9-]+|x-client-request-id)$/,
  responseHeaders: /^anthropic-(?:ratelimit|priority|fast)-[a-z0-9-]+$/,
  serverTools,
  usageReader: anthropicUsage,
};

function upstream(target: Target, known: readonly string[], use: Route["use"]): Route | undefined {
  const path = upstreamPath(target.path, target, known);
  return path === undefined ? undefined : { upstreamPath: path, use, model: undefined };
}

function authorize({ kind, secret, headers }: CredentialValue, client: Headers): Headers {
  if (kind === "key") return { "x-api-key": secret, ...headers };
  const betas = [client["anthropic-beta"], headers["anthropic-beta"], OAUTH_BETA]
    .flatMap((text) => (text ?? "").split(","))
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "");
  return {
    ...headers,
    authorization: `Bearer ${secret}`,
    "anthropic-beta": [...new Set(betas)].join(","),
  };
}

function serverTools(body: unknown): readonly ServerTool[] {
  const request = objectOf(body);
  const found: ServerTool[] = [];
  const tools = request["tools"];
  if (!isUnset(tools) && !Array.isArray(tools)) found.push(serverTool("tools"));
  for (const tool of listOf(tools)) found.push(...ofTool(tool));
  if (!isUnset(request["mcp_servers"])) found.push(serverTool("mcp_servers"));
  // A container is where the provider runs code and skills.
  if (!isUnset(request["container"])) found.push({ name: "code_execution", written: "container" });
  const said = [request["messages"], request["system"]];
  for (const block of objectsIn(said, isToolsInput)) found.push(...inMessage(block));
  return found;
}

function ofTool(value: unknown): readonly ServerTool[] {
  const tool = objectOf(value);
  const type = tool["type"];
  if (isUnset(type)) return [];
  if (typeof type === "string" && CLIENT_TOOLS.test(type)) return [];
  return [serverTool(textOf(type) ?? "a tool without a type")];
}

/** What the model called a tool with is text of its own, whatever it looks like. */
function isToolsInput(block: JsonObject, field: string): boolean {
  return field === "input" && (textOf(block["type"]) ?? "").endsWith("tool_use");
}

function inMessage(block: JsonObject): readonly ServerTool[] {
  if (block["type"] === "container_upload") return [{ name: FILES, written: "container_upload" }];
  const source = block["source"];
  if (!isObject(source)) return [];
  const type = textOf(source["type"]) ?? "a source without a type";
  if (OWN_SOURCES.has(type)) return [];
  return [
    { name: type === "file" ? FILES : URL_FETCH, written: `source of type ${type}`.slice(0, 100) },
  ];
}
