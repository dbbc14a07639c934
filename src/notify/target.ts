import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";

const REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/;

/**
 * The address behind `notify.url`: written out, or as `env:NAME`, since a webhook's address often is its key.
 *
 * @returns `config-invalid`, without the address in it, when it cannot be used.
 */
export function notifyTarget(
  written: string,
  read: (name: string) => string | undefined,
): Result<URL, Failure> {
  const name = REFERENCE.exec(written)?.[1];
  const value = name === undefined ? written : read(name);
  const from = name === undefined ? "notify.url" : `The variable ${name}, which notify.url names,`;
  if (value === undefined || value === "")
    return fail("config-invalid", `${from} is not set.`, {
      cure: "Set it in the environment, or leave notify.url out.",
    });
  const url = parsed(value);
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    return fail(
      "config-invalid",
      `${from} is not an address that begins with https:// or http://.`,
    );
  if (url.username !== "" || url.password !== "")
    return fail("config-invalid", `${from} has a user name or a password in the address.`, {
      cure: "Use an address with its key in the path or the query.",
    });
  return ok(url);
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
