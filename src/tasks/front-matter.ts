import { type Scalar, isMap, isScalar, isSeq, parseDocument } from "yaml";
import type { FieldText } from "./fields.ts";
import { PLAN_LIMITS } from "./plan-limits.ts";
import { labelName } from "./plan-line.ts";

/** The keys of YAML front matter that tasks use. Other keys are never looked at, let alone executed. */
export interface FrontMatter {
  readonly id: FieldText | null;
  readonly title: FieldText | null;
  readonly status: FieldText | null;
  readonly dependencies: readonly FieldText[];
  /** Why it cannot be trusted: it is not valid YAML. What could be read is still given. */
  readonly problem: FieldText | null;
}

const EMPTY: FrontMatter = {
  id: null,
  title: null,
  status: null,
  dependencies: [],
  problem: null,
};

type Entries = ReadonlyMap<string, readonly FieldText[]>;

/**
 * Reads `id`, `title`, `status` and `depends_on` or `dependencies` (a list, or a text with commas).
 *
 * @param line the line in the file at which the YAML text begins, from 1.
 */
export function readFrontMatter(yaml: string, line: number): FrontMatter {
  if (yaml.length > PLAN_LIMITS.frontMatterChars) {
    return { ...EMPTY, problem: { text: "is too long", line } };
  }
  try {
    const document = parseDocument(yaml, { logLevel: "silent", prettyErrors: false });
    const lineAt = (offset: number): number => line + countLineEnds(yaml, offset);
    const entries = readEntries(document.contents, lineAt);
    const [error] = document.errors;
    return {
      id: entries.get("id")?.[0] ?? null,
      title: entries.get("title")?.[0] ?? null,
      status: entries.get("status")?.[0] ?? null,
      dependencies: ["depends on", "dependencies", "dependson", "blocked by"].flatMap(
        (key) => entries.get(key) ?? [],
      ),
      problem:
        error === undefined ? null : { text: "is not valid YAML", line: lineAt(error.pos[0]) },
    };
  } catch {
    // Deep nesting overflows the YAML parser's stack.
    return { ...EMPTY, problem: { text: "cannot be parsed", line } };
  }
}

function readEntries(contents: unknown, lineAt: (offset: number) => number): Entries {
  const entries = new Map<string, readonly FieldText[]>();
  if (!isMap(contents)) return entries;
  for (const { key, value } of contents.items) {
    if (!isScalar(key)) continue;
    const values = isSeq(value) ? value.items : [value];
    const texts = values
      .filter((item) => isScalar(item))
      .flatMap((item) => readScalar(item, lineAt));
    entries.set(labelName(String(key.value)), texts);
  }
  return entries;
}

/** A number stays as it is written (`1.10`, `007`); `null` and an empty value are absent. */
function readScalar(scalar: Scalar, lineAt: (offset: number) => number): readonly FieldText[] {
  if (scalar.value === null || scalar.value === undefined) return [];
  const written = scalar.type === "PLAIN" ? scalar.source : undefined;
  const text = written ?? (typeof scalar.value === "string" ? scalar.value : "");
  return text.trim() === "" ? [] : [{ text: text.trim(), line: lineAt(scalar.range?.[0] ?? 0) }];
}

function countLineEnds(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length - 1;
}
