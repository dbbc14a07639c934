import type { Written } from "./setting.ts";

const SHOWN_CHARS = 80;

/** As TOML. JSON's strings are TOML's basic strings, escapes included. */
export function toToml(written: Written): string {
  if (typeof written === "number") return String(written);
  if (typeof written === "string") return JSON.stringify(written);
  return `[${written.map((element) => JSON.stringify(element)).join(", ")}]`;
}

/** For a sentence: short, and text without quotes. */
export function show(value: unknown): string {
  return shorten(typeof value === "string" && value !== "" ? value : (JSON.stringify(value) ?? ""));
}

/** Like `show`, with quotes around text: in a file, 4 and "4" are different. */
export function showToml(value: unknown): string {
  return shorten(typeof value === "number" ? String(value) : (JSON.stringify(value) ?? ""));
}

export function shorten(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

export function isWritten(value: unknown): value is Written {
  if (typeof value === "string" || typeof value === "number") return true;
  return Array.isArray(value) && value.every((element) => typeof element === "string");
}
