import { readdirSync } from "node:fs";
import type { OfTheHost, Targets } from "./found.ts";
import { codeOf, read } from "./read.ts";

const SHOWN_CHARACTERS = 200;
/** Below which a host's file system is found where somebody has mounted it, or where /proc leads to it. */
const PREFIXES = [
  "",
  "/host",
  "/hostfs",
  "/mnt",
  "/mnt/host",
  "/rootfs",
  "/proc/1/root",
  "/proc/1/cwd",
  "/proc/self/root",
  "/workspace/..",
  "/guardloop/job/../..",
];

/** Looks for a variable and a file of the host, by name; the probe does not know what is in them. */
export function ofTheHost({ variable, file }: Targets): OfTheHost {
  return {
    variableIn: variable === "" ? [] : placesOf(variable),
    files: file === "" ? {} : readable(file),
  };
}

function placesOf(variable: string): readonly string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const places = ["self", ...processes].map((name) => `/proc/${name}/environ`);
  return places.filter((path) => read(path).includes(`${variable}=`));
}

function readable(file: string): Readonly<Record<string, string>> {
  const up = "../".repeat(16).slice(0, -1);
  const paths = [...PREFIXES, up, `/workspace/${up}`].map((prefix) => `${prefix}${file}`);
  const texts = paths.map((path) => [path, read(path)] as const);
  return Object.fromEntries(
    texts
      .filter(([, text]) => !isErrorCode(text))
      .map(([path, text]) => [path, text.slice(0, SHOWN_CHARACTERS)]),
  );
}

function isErrorCode(text: string): boolean {
  return /^E[A-Z]+$/.test(text) || text === codeOf(undefined);
}
