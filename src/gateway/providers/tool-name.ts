import type { ServerTool } from "./provider.ts";

/** Reading a web address, or a file that is kept there, while answering. */
export const URL_FETCH = "url_fetch";
/** Files that the account keeps at the provider. */
export const FILES = "files";
/** Answers, conversations, prompts and caches that the account keeps at the provider. */
export const STORED = "stored_responses";

/** Names that say the same in another API, or with another version. */
const SAME: readonly (readonly [RegExp, string])[] = [
  [/^web_search(?:_preview|_options)?$/, "web_search"],
  [/^google_search(?:_retrieval)?$/, "google_search"],
  [/^computer(?:_use)?(?:_preview)?$/, "computer_use"],
  [/^mcp(?:_servers|_toolset)?$/, "mcp"],
];

/**
 * The name a server-side tool is allowed by: that of the API in snake case, without its date and its spelling of
 * previews, so that `web_search_20250305` and `web_search_preview` are both `web_search`.
 */
export function serverTool(written: string): ServerTool {
  const snake = written.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  const plain = snake.replaceAll(/[^a-z0-9]+/g, "_").replace(/(?:_\d{2,8})+$/, "");
  const name = SAME.find(([pattern]) => pattern.test(plain))?.[1] ?? plain;
  return { name: name.slice(0, 64) || "unnamed", written: written.slice(0, 100) };
}

/** `data:` holds the bytes itself; everything else would have to be fetched. */
export function isFetched(address: unknown): boolean {
  return typeof address !== "string" || !/^data:/i.test(address);
}
