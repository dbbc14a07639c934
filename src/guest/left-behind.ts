import type { Manifest } from "../core/artifacts.ts";
import { pathText } from "./nul-separated.ts";

type Report = Manifest["ignoredLeftBehind"];

const MAX_NAMES = 200;

/** Counts everything that is in no patch, and keeps the first names. */
export interface LeftBehind {
  readonly add: (listedPath: string) => void;
  /** Everything of another count, behind what is here. */
  readonly addAll: (other: LeftBehind) => void;
  readonly report: () => Report;
}

export function leftBehind(): LeftBehind {
  const names: string[] = [];
  let total = 0;
  return {
    add(path) {
      total += 1;
      if (names.length < MAX_NAMES) names.push(pathText(path));
    },
    addAll(other) {
      const more = other.report();
      total += more.total;
      names.push(...more.names.slice(0, MAX_NAMES - names.length));
    },
    report: () => ({ total, names }),
  };
}
