import { readFileSync, readdirSync } from "node:fs";
import type { OfTheHost, Targets } from "./found.ts";
import { read } from "./read.ts";

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
    files: file === "" ? [] : readable(file),
  };
}

function placesOf(variable: string): readonly string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const places = ["self", ...processes].map((name) => `/proc/${name}/environ`);
  return places.filter((path) => read(path).includes(`${variable}=`));
}

function readable(file: string): readonly string[] {
  const up = "../".repeat(16).slice(0, -1);
  const paths = [...PREFIXES, up, `/workspace/${up}`].map((prefix) => `${prefix}${file}`);
  return paths.filter((path) => canBeRead(path));
}

function canBeRead(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
