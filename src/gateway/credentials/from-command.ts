import type { HostEnvironment } from "../../core/environment.ts";
import { type Result, err } from "../../core/result.ts";
import { visible } from "../../core/visible.ts";
import type { Environment, Exit } from "../../process/command.ts";
import { findProgram } from "../../process/find-program.ts";
import { run } from "../../process/spawn.ts";
import { fromHome } from "./from-file.ts";
import { secretIn } from "./secret-text.ts";

const DEADLINE_MS = 60_000;
const MOST_OUTPUT_BYTES = 64 * 1024;

/** What password managers need to find their agents, sessions, stores and configuration; see docs/configuration.md. */
const PASSED = [
  "USER",
  "LOGNAME",
  "TERM",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_CACHE_HOME",
  "GNUPGHOME",
  "GPG_TTY",
  "SSH_AUTH_SOCK",
  "PASSWORD_STORE_DIR",
  "OP_ACCOUNT",
  "OP_SERVICE_ACCOUNT_TOKEN",
  "BW_SESSION",
  "VAULT_ADDR",
  "VAULT_TOKEN",
] as const;

export type CommandEnvironment = Pick<HostEnvironment, "path" | "home" | "desktop" | "read">;

/**
 * Runs the user's own program and takes the first line it prints. No shell; a built environment; a working directory in
 * which nothing of a repository lies.
 *
 * @returns what is wrong, in words that hold neither what it printed nor its arguments.
 */
export async function secretFromCommand(
  words: readonly [string, ...string[]],
  at: { readonly env: CommandEnvironment; readonly signal?: AbortSignal | undefined },
): Promise<Result<string, string>> {
  const [name, ...args] = words;
  const said = visible(name, "one-line");
  const program = name.includes("/") ? fromHome(name, at.env.home) : findProgram(name, at.env.path);
  if (program === undefined) return err(`the program ${said} is not on PATH`);
  const exit = await run({
    argv: [program, ...args],
    cwd: "/",
    env: environmentFor(at.env),
    deadlineMs: DEADLINE_MS,
    maxOutputBytes: MOST_OUTPUT_BYTES,
    ...(at.signal === undefined ? {} : { signal: at.signal }),
  });
  if (!exit.ok) return err(`the program ${said} could not be started (${exit.error.reason})`);
  const ending = badEnding(exit.value);
  if (ending !== undefined) return err(`the program ${said} ${ending}`);
  const [line = ""] = exit.value.stdout.toString("utf8").split("\n");
  const secret = secretIn(line.replace(/\r$/, ""));
  return secret.ok ? secret : err(`the first line that ${said} printed ${secret.error}`);
}

function environmentFor(env: CommandEnvironment): Environment {
  const passed: Record<string, string> = {};
  for (const name of PASSED) {
    const value = env.read(name);
    if (value !== undefined) passed[name] = value;
  }
  return { ...env.desktop, ...passed, PATH: env.path, HOME: env.home };
}

function badEnding({ ended, code, signal, stdout, stderr }: Exit): string | undefined {
  if (ended === "deadline") return `did not end within ${DEADLINE_MS / 1000} seconds and was ended`;
  if (ended === "aborted") return "was interrupted";
  if (code === 0) return undefined;
  const how = code === null ? `was ended by ${signal ?? "a signal"}` : `ended with status ${code}`;
  return `${how}${lastWords(stdout, stderr)}`;
}

/**
 * The last line of its complaint. What looks as if it could be the value, or a part of it, is left out; where it has
 * printed something on standard output too, all of it.
 */
function lastWords(stdout: Buffer, stderr: Buffer): string {
  const line = stderr.toString("utf8").trim().split("\n").at(-1)?.trim() ?? "";
  if (line === "" || stdout.length > 0) return "";
  const words = line
    .split(/\s+/)
    .map((word) => (word.length >= 12 && /\d/.test(word) ? "…" : word));
  return ` (${visible(words.join(" ").slice(0, 200), "one-line").replace(/\.$/, "")})`;
}
