import type { ProviderName } from "../../core/network.ts";
import { anthropic } from "./anthropic.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";
import type { Provider } from "./provider.ts";

export const PROVIDER_TABLE: Readonly<Record<ProviderName, Provider>> = {
  openai,
  anthropic,
  gemini,
  compatible,
};
