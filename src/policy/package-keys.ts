import { type Finding, finding } from "./finding.ts";

/** A package.json before and after, as text; undefined where there is none. */
export interface ManifestChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Scripts that package managers run by themselves; npm's documentation, "Life Cycle Scripts". */
const AUTOMATIC = new Set([
  "preinstall",
  "install",
  "postinstall",
  "prepublish",
  "preprepare",
  "prepare",
  "postprepare",
]);

/** Which keys of package.json files changed: a script that runs on install matters more than a description. */
export function packageFindings(changes: readonly ManifestChange[]): readonly Finding[] {
  const rows = changes.flatMap((change) => {
    const keys = changedKeys(change);
    return keys.length === 0 ? [] : [{ path: change.path, keys }];
  });
  const automatic = rows.flatMap(({ path, keys }) =>
    keys
      .filter((key) => AUTOMATIC.has(key.replace(/^scripts\./, "")))
      .map((key) => `${path}: ${key}`),
  );
  const all = rows.map(({ path, keys }) => `${path}: ${keys.slice(0, 20).join(", ")}`);
  return [
    ...(automatic.length > 0
      ? [finding("install-scripts", "Package managers run these scripts by themselves.", automatic)]
      : []),
    ...(all.length > 0
      ? [finding("package-keys", "These keys of package files changed.", all)]
      : []),
  ];
}

/** Top-level keys, and the names of single scripts. A file that is not a JSON object counts as changed whole. */
function changedKeys({ before, after }: ManifestChange): readonly string[] {
  const old = parse(before);
  const now = parse(after);
  if (old === undefined || now === undefined) return ["(not a JSON object)"];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
    .flatMap((name) => (name === "scripts" ? changedScripts(old[name], now[name]) : [name]));
}

function changedScripts(before: unknown, after: unknown): readonly string[] {
  const old = asObject(before);
  const now = asObject(after);
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => old[name] !== now[name])
    .map((name) => `scripts.${name}`);
}

function parse(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? asObject(value)
      : undefined;
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // An object's own enumerable keys; arrays and scalars have none that matter here.
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
