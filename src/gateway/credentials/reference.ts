import { type Result, err, ok, unreachable } from "../../core/result.ts";
import { visible } from "../../core/visible.ts";
import { splitWords } from "./split-words.ts";

export const LOGIN_NAMES = ["claude", "codex"] as const;
export type LoginName = (typeof LOGIN_NAMES)[number];

/** Where a credential is read: the setting's value, understood. No secret is in it. */
export type Reference =
  | { readonly kind: "none" }
  | { readonly kind: "env"; readonly name: string }
  /** Absolute, or below HOME and then beginning with `~/`. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly words: readonly [string, ...string[]] }
  | { readonly kind: "login"; readonly name: LoginName };

const FORMS = "env:NAME, file:PATH, command:PROGRAM ARGS, login:NAME or none";
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Reads `env:NAME`, `file:PATH`, `command:PROGRAM ARGS`, `login:NAME` or `none`.
 *
 * @returns a sentence that says what is wrong. It never repeats the text: somebody may have put the key itself there.
 */
export function parseReference(text: string): Result<Reference, string> {
  if (text === "none") return ok({ kind: "none" });
  const colon = text.indexOf(":");
  const rest = text.slice(colon + 1);
  switch (text.slice(0, Math.max(colon, 0))) {
    case "env":
      return NAME.test(rest)
        ? ok({ kind: "env", name: rest })
        : err("What follows env: is not the name of a variable.");
    case "file":
      return /^(?:\/|~\/)./.test(rest)
        ? ok({ kind: "file", path: rest })
        : err("The path that follows file: must begin with / or ~/.");
    case "command":
      return parseCommand(rest);
    case "login":
      return parseLogin(rest);
    default:
      return err(`A credential is given as ${FORMS}, never as the key itself.`);
  }
}

function parseCommand(line: string): Result<Reference, string> {
  const words = splitWords(line);
  if (!words.ok) return err(`The command that follows command: ${words.error}.`);
  const [program, ...args] = words.value;
  if (program === undefined || program === "")
    return err("The name of a program must follow command:.");
  if (program.includes("/") && !/^~?\//.test(program))
    return err(
      "The program that follows command: must be a name on PATH, or a path that begins with / or ~/.",
    );
  return ok({ kind: "command", words: [program, ...args] });
}

function parseLogin(name: string): Result<Reference, string> {
  const known = LOGIN_NAMES.find((one) => one === name);
  if (known !== undefined) return ok({ kind: "login", name: known });
  if (name === "gemini")
    return err(
      "There is no login for Gemini: its API takes API keys only, for example env:GEMINI_API_KEY.",
    );
  return err(`What follows login: must be one of ${LOGIN_NAMES.join(", ")}.`);
}

/** How a reference may be shown and kept in records: of a command only the program, since its words may tell too much. */
export function describeReference(reference: Reference): string {
  switch (reference.kind) {
    case "none":
      return "none";
    case "env":
      return `env:${reference.name}`;
    case "file":
      return `file:${visible(reference.path, "one-line")}`;
    case "command":
      return `command:${visible(reference.words[0], "one-line")}${reference.words.length > 1 ? " …" : ""}`;
    case "login":
      return `login:${reference.name}`;
    default:
      return unreachable(reference);
  }
}
