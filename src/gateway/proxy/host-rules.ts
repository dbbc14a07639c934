import { isIP } from "node:net";
import { domainToASCII } from "node:url";

/** What a CONNECT request asks for. */
export type Target =
  | { readonly kind: "host"; readonly host: string; readonly port: number }
  /** An address in place of a name, in any spelling that a resolver would take as one. */
  | { readonly kind: "address" }
  | { readonly kind: "malformed" };

/** The authority form of RFC 9112, section 3.2.3, without brackets: those hold an address. */
const AUTHORITY = /^([^\s:@/\\?#[\]%]{1,253}):(\d{1,5})$/;
const NAME =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** `127.0.0.1`, `127.1`, `0x7f000001`, `2130706433`: all of them are addresses to inet_aton(3). */
const NUMBER = /^(?:\d+|0x[0-9a-f]*)$/;

/** Reads the target of a CONNECT request. */
export function readTarget(authority: string): Target {
  if (/^\[.*\]:\d+$/.test(authority)) return { kind: "address" };
  const [, name = "", port = ""] = AUTHORITY.exec(authority) ?? [];
  const host = plainName(name);
  if (host === undefined || Number(port) > 65_535) return { kind: "malformed" };
  if (isAddress(host)) return { kind: "address" };
  return { kind: "host", host, port: Number(port) };
}

/**
 * A host name as it is compared: lower case, in ASCII (IDNA), without the dot that may end it.
 *
 * @returns undefined for what is no host name.
 */
export function plainName(name: string): string | undefined {
  const ascii = domainToASCII(name).toLowerCase();
  const host = ascii.endsWith(".") ? ascii.slice(0, -1) : ascii;
  return host.length <= 253 && NAME.test(host) ? host : undefined;
}

/** A name whose last label is a number is an address to browsers (WHATWG URL) and to the C library alike. */
function isAddress(host: string): boolean {
  return isIP(host) !== 0 || NUMBER.test(host.split(".").at(-1) ?? "");
}

/**
 * Whether a rule names the host: the same name, or `*.` and a suffix for every name below it, at any depth, but not for
 * the suffix itself.
 *
 * @param host as `plainName` gives it.
 */
export function isAllowed(host: string, rules: readonly string[]): boolean {
  return rules.some((rule) => {
    const isSuffix = rule.startsWith("*.");
    const name = plainName(isSuffix ? rule.slice(2) : rule);
    if (name === undefined) return false;
    return isSuffix ? host.endsWith(`.${name}`) && host.length > name.length + 1 : host === name;
  });
}
