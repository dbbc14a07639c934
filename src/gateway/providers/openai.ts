import type { CredentialValue } from "../port.ts";
import type { Target } from "../target.ts";
import { type JsonObject, isUnset, listOf, objectOf, objectsIn, textOf } from "./json.ts";
import { openaiUsage } from "./openai-usage.ts";
import type { Headers, Provider, Route, ServerTool } from "./provider.ts";
import { upstreamPath } from "./query.ts";
import { FILES, STORED, URL_FETCH, isFetched, serverTool } from "./tool-name.ts";

const USES: Readonly<Record<string, Route["use"]>> = {
  "/v1/responses": "model",
  // Codex asks the API to shorten a conversation.
  "/v1/responses/compact": "model",
  "/v1/responses/input_tokens": "about",
  "/v1/chat/completions": "model",
};

/** Run by the client, or only sorted by the provider. Everything else is taken for the provider's. */
const CLIENT_TOOLS = new Set(["function", "custom", "local_shell", "apply_patch", "tool_search"]);

/** Fields of a request that are a way out, or a look into what the account keeps; with the names they are allowed by. */
const FIELDS: Readonly<Record<string, string>> = {
  web_search_options: "web_search",
  previous_response_id: STORED,
  conversation: STORED,
  prompt: STORED,
  background: "background",
  // OpenRouter's, among them a web search.
  plugins: "plugins",
};

/** Models that search the web without being given a tool. */
const SEARCHING_MODEL = /-search-(?:preview|api)\b|:online$/;

/**
 * OpenAI's Responses and Chat Completions APIs, as of https://platform.openai.com/docs/api-reference, and what Codex
 * adds to them. Also spoken by every `compatible` server.
 *
 * In a Chat Completions stream the use of tokens is said only where the client asked for it
 * (`stream_options.include_usage`); the gateway does not ask by itself, since it would change what the client gets.
 */
export const openai: Provider = {
  route(method: string, target: Target): Route | undefined {
    const { path } = target;
    if (method === "GET" && path === "/v1/models")
      return upstream(target, ["client_version"], "about");
    const use = Object.hasOwn(USES, path) ? USES[path] : undefined;
    return method === "POST" && use !== undefined ? upstream(target, [], use) : undefined;
  },
  allowed: "POST /v1/responses, /v1/responses/compact, /v1/chat/completions and GET /v1/models",
  authorize: ({ secret, headers }: CredentialValue): Headers => ({
    authorization: `Bearer ${secret}`,
    ...headers,
  }),
  requestHeaders:
    /^(?:openai-beta|originator|version|session[_-]id|thread-id|conversation_id|x-client-request-id|x-codex-[a-z0-9-]+|x-openai-[a-z0-9-]+|x-responsesapi-[a-z0-9-]+)$/,
  responseHeaders:
    /^(?:openai-(?:processing-ms|version|model)|x-ratelimit-[a-z0-9-]+|x-codex-[a-z0-9-]+|x-reasoning-included|x-models-etag)$/,
  serverTools,
  usageReader: openaiUsage,
};

function upstream(target: Target, known: readonly string[], use: Route["use"]): Route | undefined {
  const path = upstreamPath(target.path.slice("/v1".length), target, known);
  return path === undefined ? undefined : { upstreamPath: path, use, model: undefined };
}

function serverTools(body: unknown): readonly ServerTool[] {
  const request = objectOf(body);
  const fields = Object.entries(FIELDS)
    .filter(([field]) => !isUnset(request[field]))
    .map(([field, name]) => ({ name, written: field }));
  const model = textOf(request["model"]) ?? "";
  if (SEARCHING_MODEL.test(model))
    fields.push({ name: "web_search", written: model.slice(0, 100) });
  const inside = [...objectsIn([request["input"], request["messages"]])].flatMap(inConversation);
  return [...fields, ...toolsIn(request["tools"]), ...inside];
}

/** Codex gives its tools in an item of the conversation; a search for tools adds more of them. */
function inConversation(item: JsonObject): readonly ServerTool[] {
  const found = [...toolsIn(item["tools"])];
  if (item["type"] === "item_reference") found.push({ name: STORED, written: "item_reference" });
  for (const field of ["image_url", "file_url"]) {
    const value = item[field];
    const address = objectOf(value)["url"] ?? value;
    if (!isUnset(value) && isFetched(address)) found.push({ name: URL_FETCH, written: field });
  }
  if (!isUnset(item["file_id"])) found.push({ name: FILES, written: "file_id" });
  return found;
}

function toolsIn(value: unknown): readonly ServerTool[] {
  const isList = isUnset(value) || Array.isArray(value);
  return isList ? listOf(value).flatMap(ofTool) : [serverTool("tools")];
}

function ofTool(value: unknown): readonly ServerTool[] {
  const tool = objectOf(value);
  const type = textOf(tool["type"]) ?? "a tool without a type";
  if (type === "namespace") return toolsIn(tool["tools"]);
  if (CLIENT_TOOLS.has(type)) return [];
  // OpenAI runs the commands of a shell in a container of its own, unless they are to be run here.
  if (type === "shell") {
    const where = tool["environment"];
    return isUnset(where) || objectOf(where)["type"] === "local"
      ? []
      : [serverTool("hosted_shell")];
  }
  return [serverTool(type)];
}
