import type { Manifest } from "../core/artifacts.ts";
import { pathText } from "./nul-separated.ts";

const MAX_NAMES = 200;

/** Counts everything that is in no patch, and keeps the first names. */
export interface LeftBehind {
  readonly add: (listedPath: string) => void;
  readonly report: () => Manifest["ignoredLeftBehind"];
}

export function leftBehind(): LeftBehind {
  const names: string[] = [];
  let total = 0;
  return {
    add(path) {
      total += 1;
      if (names.length < MAX_NAMES) names.push(pathText(path));
    },
    report: () => ({ total, names }),
  };
}
