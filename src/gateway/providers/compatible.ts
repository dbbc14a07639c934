import { openai } from "./openai.ts";
import type { Provider } from "./provider.ts";

/** Any other server that speaks OpenAI's API: the same paths, the same tools, the same headers. */
export const compatible: Provider = openai;
