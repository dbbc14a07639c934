import { z } from "zod";
import { AGENT_NAMES } from "../../core/agent-name.ts";
import { setting } from "../setting.ts";
import { emptyOr, oneLine } from "../text-schemas.ts";

const ONE = `(?:${AGENT_NAMES.join("|")})`;

/** What the container's environment is built from; passing these would break the guest. */
const BUILT_NAMES = /^(?:HOME|TMPDIR|GUARDLOOP_.*)$/;
/** No `=`: the engine would take `NAME=VALUE` for a value of its own. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Not empty, and nothing that Git drops from or refuses in an identity. */
const IDENTITY_PART = /^[^<>\s](?:[^<>]*[^<>\s])?$/;

export const name = setting({
  key: "agent.name",
  guard: "GUARD_AGENT",
  flag: { name: "--agent", takes: "NAME" },
  kind: "text",
  schema: z
    .string()
    .regex(new RegExp(`^(?:${ONE}(?:, ?${ONE})*)?$`))
    .transform((text) =>
      text.split(/, ?/).flatMap((word) => AGENT_NAMES.filter((one) => one === word)),
    ),
  expects: `one of ${AGENT_NAMES.join(", ")}, or several with commas between them`,
  standard: "",
  description:
    "The agent that does the tasks, one of five; several make attempts. See docs/agents.md.",
  // The agent runs inside the container whichever it is.
  loosening: "never",
});

export const command = setting({
  key: "agent.command",
  guard: "GUARD_AGENT_COMMAND",
  flag: { name: "--", takes: "PROGRAM ARGS" },
  kind: "words",
  schema: z
    .array(z.string().refine((word) => !word.includes("\0")))
    .refine((words) => words[0] !== ""),
  expects: 'a list of words, for example ["node", "agent.js"]',
  standard: [],
  description: "Program and arguments of agent `command`; extra arguments for the other agents.",
  loosening: "never",
});

export const model = setting({
  key: "agent.model",
  guard: "GUARD_MODEL",
  flag: { name: "--model", takes: "NAME" },
  kind: "text",
  // The first character keeps it from being read as an option.
  schema: emptyOr(
    z
      .string()
      .max(200)
      .regex(/^[A-Za-z0-9][^\s]*$/),
  ),
  expects: "the name of a model",
  standard: "",
  description: "The model the agent is told to use; empty leaves the choice to the agent.",
  loosening: "never",
});

export const passEnv = setting({
  key: "agent.pass_env",
  guard: "GUARD_PASS_ENV",
  flag: { name: "--pass-env", takes: "NAME" },
  kind: "list",
  schema: z.array(
    z
      .string()
      .regex(VARIABLE_NAME)
      .refine((variable) => !BUILT_NAMES.test(variable)),
  ),
  expects: "names of environment variables, except HOME, TMPDIR and GUARDLOOP_*",
  standard: [],
  description: "Names of your environment variables that the container gets, for example API keys.",
  loosening: { when: "for any value", test: (names) => names.length > 0 },
});

export const reminder = setting({
  key: "agent.reminder",
  guard: "GUARD_REMINDER",
  flag: { name: "--reminder", takes: "MODE" },
  kind: "text",
  schema: z.enum(["on", "off"]),
  expects: "on or off",
  standard: "on",
  description:
    "Whether an agent that ended without its artifacts is reminded once, in the same session.",
  loosening: "never",
});

export const authorName = setting({
  key: "agent.author_name",
  guard: "GUARD_AUTHOR_NAME",
  flag: { name: "--author-name", takes: "NAME" },
  kind: "text",
  schema: oneLine(200).regex(IDENTITY_PART),
  expects: "a name without < and >",
  standard: "guardloop agent",
  description: "Author of the agent's commits, unless the agent sets one.",
  loosening: "never",
});

export const authorEmail = setting({
  key: "agent.author_email",
  guard: "GUARD_AUTHOR_EMAIL",
  flag: { name: "--author-email", takes: "ADDRESS" },
  kind: "text",
  schema: oneLine(200).regex(/^[^<>\s]+$/),
  expects: "an address without spaces, < and >",
  standard: "agent@guardloop.invalid",
  description: "Address of that author.",
  loosening: "never",
});
