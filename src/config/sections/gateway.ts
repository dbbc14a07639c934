import { z } from "zod";
import { setting } from "../setting.ts";
import { sizeSchema } from "../size.ts";
import { emptyOr, oneLine } from "../text-schemas.ts";
import { PROVIDERS } from "../../core/network.ts";

const MIB = 1024 ** 2;
const STANDARD_REQUEST = "32m";

export const provider = setting({
  key: "gateway.provider",
  guard: "GUARD_PROVIDER",
  flag: { name: "--provider", takes: "NAME" },
  kind: "text",
  schema: z
    .literal("")
    .transform(() => undefined)
    .or(z.enum(PROVIDERS)),
  expects: `one of ${PROVIDERS.join(", ")}`,
  standard: "",
  description: "Model API the agent works with; empty takes the agent's usual one.",
  // It decides which credential of yours is used, and what is sent where.
  loosening: { when: "for any value", test: (name) => name !== undefined },
});

const upstream = z
  .string()
  .max(2000)
  .refine((text) => isUpstream(text))
  .transform((text) => text.replace(/\/+$/, ""));

/** A plain address: nothing that could be a credential, and nothing behind the path. */
function isUpstream(text: string): boolean {
  if (/[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username === "" && password === "" && search === "" && hash === "";
}

/** What differs from provider to provider. */
interface OfProvider {
  readonly flag: `--${string}`;
  readonly guard: `GUARD_${string}`;
  readonly standard: string;
  readonly description: string;
}

function upstreamSetting<const Name extends string>(name: Name, of: OfProvider) {
  return setting({
    key: `upstream.${name}`,
    guard: of.guard,
    flag: { name: of.flag, takes: "URL" },
    kind: "text",
    schema: z
      .literal("")
      .transform(() => undefined)
      .or(upstream),
    expects: "an address that begins with https:// or http://, without a password, ? or #",
    standard: of.standard,
    description: of.description,
    loosening: { when: "for any other address", test: (url) => (url ?? "") !== of.standard },
  });
}

export const openaiUpstream = upstreamSetting("openai", {
  flag: "--openai-url",
  guard: "GUARD_OPENAI_URL",
  standard: "https://api.openai.com/v1",
  description: "Where the gateway reaches OpenAI's API.",
});

export const anthropicUpstream = upstreamSetting("anthropic", {
  flag: "--anthropic-url",
  guard: "GUARD_ANTHROPIC_URL",
  standard: "https://api.anthropic.com",
  description: "Where the gateway reaches Anthropic's API.",
});

export const geminiUpstream = upstreamSetting("gemini", {
  flag: "--gemini-url",
  guard: "GUARD_GEMINI_URL",
  standard: "https://generativelanguage.googleapis.com",
  description: "Where the gateway reaches the Gemini API.",
});

export const compatibleUpstream = upstreamSetting("compatible", {
  flag: "--compatible-url",
  guard: "GUARD_COMPATIBLE_URL",
  standard: "",
  description: "Base address of another server that speaks OpenAI's API, for example a local one.",
});

/** `env:NAME`, `file:PATH`, `command:ARGV`, `login:NAME`, or `none`. */
const REFERENCE =
  /^(?:none|env:[A-Za-z_][A-Za-z0-9_]*|file:(?:\/|~\/).+|command:\S.*|login:[a-z]+)$/;

function credentialSetting<const Name extends string>(name: Name, of: OfProvider) {
  return setting({
    key: `credential.${name}`,
    guard: of.guard,
    flag: { name: of.flag, takes: "REFERENCE" },
    kind: "text",
    schema: emptyOr(oneLine(1000).regex(REFERENCE)),
    expects: "env:NAME, file:PATH, command:PROGRAM ARGS, login:NAME or none",
    standard: of.standard,
    description: of.description,
    loosening: {
      when: "for any other value",
      test: (reference) => (reference ?? "") !== of.standard,
    },
    // A program on the host, with the user's own environment: nobody else may name it, not even a trusted file.
    ownFileOnly: {
      why: "a command: runs on your machine",
      test: (written) => String(written).startsWith("command:"),
    },
    shown: (written) => shownReference(String(written)),
  });
}

/** Of a command only its program; and nothing of what is no reference, since it may be the key itself. */
function shownReference(text: string): string {
  const program = /^command:\s*(\S+)(\s)?/.exec(text);
  if (program !== null) return `command:${program[1]}${program[2] === undefined ? "" : " …"}`;
  return text === "" || REFERENCE.test(text) ? text : "(hidden)";
}

export const openaiCredential = credentialSetting("openai", {
  flag: "--openai-credential",
  guard: "GUARD_OPENAI_CREDENTIAL",
  standard: "env:OPENAI_API_KEY",
  description: "Where the credential for OpenAI's API is read: a reference, never the key itself.",
});

export const anthropicCredential = credentialSetting("anthropic", {
  flag: "--anthropic-credential",
  guard: "GUARD_ANTHROPIC_CREDENTIAL",
  standard: "env:ANTHROPIC_API_KEY",
  description: "Where the credential for Anthropic's API is read.",
});

export const geminiCredential = credentialSetting("gemini", {
  flag: "--gemini-credential",
  guard: "GUARD_GEMINI_CREDENTIAL",
  standard: "env:GEMINI_API_KEY",
  description: "Where the credential for the Gemini API is read.",
});

export const compatibleCredential = credentialSetting("compatible", {
  flag: "--compatible-credential",
  guard: "GUARD_COMPATIBLE_CREDENTIAL",
  standard: "none",
  description: "Where the credential for the compatible server is read; none where it wants none.",
});

export const serverTools = setting({
  key: "gateway.server_tools",
  guard: "GUARD_SERVER_TOOLS",
  flag: { name: "--server-tool", takes: "NAME" },
  kind: "list",
  schema: z.array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/)),
  expects: "a list of names such as web_search",
  standard: [],
  description:
    "Tools the provider may run on its own side, such as web_search: a way out of the cage.",
  loosening: { when: "for any value", test: (names) => names.length > 0 },
});

export const maxRequest = setting({
  key: "gateway.max_request",
  guard: "GUARD_MAX_REQUEST",
  flag: { name: "--max-request", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(1024),
  expects: 'a size of 1k or more, for example "32m"',
  standard: STANDARD_REQUEST,
  description: "Size of the largest request that the gateway passes on.",
  loosening: { when: `above ${STANDARD_REQUEST}`, test: (bytes) => bytes > 32 * MIB },
});

export const waitForLimit = setting({
  key: "gateway.wait_for_limit",
  guard: "GUARD_WAIT_FOR_LIMIT",
  flag: { name: "--wait-for-limit", sets: "on" },
  kind: "text",
  schema: z.enum(["off", "on"]),
  expects: "one of off, on",
  standard: "off",
  description: "Whether the clocks stand still until a rate limit of the model API is over.",
  loosening: { when: "for on", test: (mode) => mode === "on" },
});
