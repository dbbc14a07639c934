import type { CredentialValue } from "../port.ts";
import type { Target } from "../target.ts";
import { geminiUsage } from "./gemini-usage.ts";
import { type JsonObject, isUnset, listOf, objectOf, objectsIn } from "./json.ts";
import type { Headers, Provider, Route, ServerTool } from "./provider.ts";
import { upstreamPath } from "./query.ts";
import { STORED, URL_FETCH, serverTool } from "./tool-name.ts";

const CALL =
  /^\/v1(?:beta)?\/models\/([A-Za-z0-9._-]+):(generateContent|streamGenerateContent|countTokens)$/;
const MODELS = /^\/v1(?:beta)?\/models(?:\/[A-Za-z0-9._-]+)?$/;

/** The Gemini API, as of https://ai.google.dev/api; keys only, its logins go elsewhere. */
export const gemini: Provider = {
  route(method: string, target: Target): Route | undefined {
    if (method === "GET" && MODELS.test(target.path))
      return upstream(target, ["pageSize", "pageToken"], { use: "about", model: undefined });
    const [, model, call] = CALL.exec(target.path) ?? [];
    if (method !== "POST" || model === undefined) return undefined;
    return upstream(target, ["alt"], { use: call === "countTokens" ? "about" : "model", model });
  },
  allowed:
    "POST /v1beta/models/MODEL:generateContent, :streamGenerateContent, :countTokens and GET /v1beta/models",
  authorize: ({ kind, secret, headers }: CredentialValue): Headers => ({
    ...(kind === "key" ? { "x-goog-api-key": secret } : { authorization: `Bearer ${secret}` }),
    ...headers,
  }),
  requestHeaders: /^(?:x-goog-api-client|x-gemini-api-privileged-user-id)$/,
  responseHeaders: /^x-gemini-[a-z0-9-]+$/,
  serverTools,
  usageReader: geminiUsage,
};

function upstream(
  target: Target,
  known: readonly string[],
  rest: Omit<Route, "upstreamPath">,
): Route | undefined {
  const path = upstreamPath(target.path, target, known);
  return path === undefined ? undefined : { upstreamPath: path, ...rest };
}

/** The API reads every field in camel case and in snake case (ProtoJSON); so does this. */
function serverTools(body: unknown): readonly ServerTool[] {
  const found: ServerTool[] = [];
  for (const object of objectsIn(body, isUsersData))
    for (const [field, value] of Object.entries(object))
      if (!isUnset(value)) found.push(...ofField(plain(field), value));
  return found;
}

function ofField(field: string, value: unknown): readonly ServerTool[] {
  if (field === "tools") {
    if (!Array.isArray(value)) return [serverTool("tools")];
    return listOf(value).flatMap(ofTool);
  }
  if (field === "filedata") return [{ name: URL_FETCH, written: "fileData" }];
  if (field === "cachedcontent") return [{ name: STORED, written: "cachedContent" }];
  return [];
}

function ofTool(value: unknown): readonly ServerTool[] {
  const others = Object.keys(objectOf(value)).filter(
    (key) => plain(key) !== "functiondeclarations",
  );
  return others.map((key) => serverTool(key));
}

/** What functions were called with and gave back, and the schemas they are declared by. */
function isUsersData(object: JsonObject, field: string): boolean {
  const name = plain(field);
  if (name === "args" || name === "functiondeclarations") return true;
  if (name === "responseschema" || name === "responsejsonschema") return true;
  return name === "response" && !isUnset(object["name"]);
}

function plain(field: string): string {
  return field.replaceAll("_", "").toLowerCase();
}
