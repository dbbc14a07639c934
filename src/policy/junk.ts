import type { Change } from "./facts.ts";
import { type Finding, finding } from "./finding.ts";

/** Directories that hold what tools fetch or build; nobody means to commit hundreds of their files. */
const STORES = new Set([
  "node_modules",
  "bower_components",
  ".pnpm-store",
  ".yarn",
  ".venv",
  "venv",
  "__pycache__",
  ".tox",
  ".mypy_cache",
  ".pytest_cache",
  ".gradle",
  ".m2",
  "target",
  "dist",
  "build",
  "out",
  ".next",
  ".nuxt",
  ".turbo",
  ".cache",
  "coverage",
]);
/** A project may keep a few built files on purpose. */
const FEW_FILES = 10;
const MANY_FILES = 1_000;

/** One finding for each package store or build directory that the branch adds, with count and size. */
export function junkFindings(changes: readonly Change[]): readonly Finding[] {
  const added = changes.filter((change) => change.kind === "added");
  const stores = new Map<string, { files: number; bytes: number }>();
  for (const { path, sizeBytes } of added) {
    const store = storeOf(path);
    if (store === undefined) continue;
    const sum = stores.get(store) ?? { files: 0, bytes: 0 };
    stores.set(store, { files: sum.files + 1, bytes: sum.bytes + sizeBytes });
  }
  const big = [...stores].filter(([, sum]) => sum.files > FEW_FILES);
  const found = big.map(([store, { files, bytes }]) =>
    finding("junk", `${files} files (${bytes} bytes) of what tools fetch or build.`, [`${store}/`]),
  );
  if (found.length === 0 && added.length > MANY_FILES)
    found.push(
      finding("junk", `${added.length} files are added: look for what should be ignored.`),
    );
  return found;
}

/** The path up to the first such directory, or undefined. */
function storeOf(path: string): string | undefined {
  const parts = path.split("/");
  const at = parts.slice(0, -1).findIndex((part) => STORES.has(part));
  return at === -1 ? undefined : parts.slice(0, at + 1).join("/");
}
