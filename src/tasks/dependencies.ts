import type { DraftTask } from "./draft-task.ts";
import type { FieldText } from "./fields.ts";

/** One thing a task depends on. */
export interface Dependency {
  /** As the other task writes it, or as written here when the plan has no such task. */
  readonly id: string;
  readonly line: number;
  readonly kind: "task" | "not-in-plan";
}

export interface DependencyReading {
  readonly dependencies: readonly Dependency[];
  /** Entries that name no task (`Cart service deployed`): nobody can check them, so they are only reported. */
  readonly remarks: readonly FieldText[];
}

/** The ids of a plan. */
export interface PlanIds {
  /** As written, by their lower-case form. */
  readonly known: ReadonlyMap<string, string>;
  /** The letters that ids begin with: `t` for `T1`. */
  readonly families: ReadonlySet<string>;
}

export function planIds(known: ReadonlyMap<string, string>): PlanIds {
  return { known, families: new Set([...known.keys()].flatMap((id) => familyOf(id) ?? [])) };
}

/** Beyond these lengths text is prose: only ids mentioned in it are looked for, which takes linear time. */
const LONGEST_ROW = 2000;
const LONGEST_ID_PIECE = 120;

const NOTHING = /^(?:none\b|nothing\b|n\/a\b|no dependenc|no blocker|nil\b|tbd$|[-–—]*\.?$)/i;
const DOCUMENT = /[/\\]|\.(?:md|mdx|txt|html?|pdf|json|ya?ml|toml)\b|:\/\//i;
const LEADING_WORD = /^(?:after|task|tasks|story|issue|depends on|blocked by|requires?)\s+/i;
const RANGE = /^\S*\d\S*\s*(?:–|—|\.\.\.?|\s(?:to|through|thru|until|-)\s)\s*\S*\d\S*$/i;
const ID_THEN_END = /^\[?([^\s[\](),:：—·]*\d[^\s[\](),:：—·]*)\]?(?:$|\s*[:：—·(]|\s+[–-]\s)/u;
const SLUG = /^[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+$/;
const WORD = /[A-Za-z0-9][A-Za-z0-9._-]*/g;

/**
 * Reads what a draft depends on. Entries may be `None`, ids in a row (`T1, T2 and T3`), an id with a remark
 * (`T1 — the tax rule`), the path of a document (no dependency), or prose: ids of the plan that stand in prose
 * count, and so does an unknown word of the same family (`T99` beside `T1`), so that a slip of the pen blocks
 * rather than frees a task.
 */
export function readDependencies(draft: DraftTask, ids: PlanIds): DependencyReading {
  const found = new Map<string, Dependency>();
  const remarks: FieldText[] = [];
  const readings = [
    ...draft.dependencyTexts.map((entry) => ({ entry, strict: "prose" as const })),
    ...draft.dependencyIds.map((entry) => ({ entry, strict: "ids" as const })),
  ];
  for (const { entry, strict } of readings) {
    if (NOTHING.test(entry.text.trim())) continue;
    for (const piece of piecesOf(entry.text)) {
      const named = idsOfPiece(piece, ids, strict);
      if (named === null) remarks.push({ text: piece, line: entry.line });
      for (const written of named ?? []) {
        const id = ids.known.get(written.toLowerCase());
        found.set((id ?? written).toLowerCase(), {
          id: id ?? written,
          line: entry.line,
          kind: id === undefined ? "not-in-plan" : "task",
        });
      }
    }
  }
  return { dependencies: [...found.values()], remarks };
}

function piecesOf(text: string): readonly string[] {
  if (text.length > LONGEST_ROW) return [text];
  return text
    .split(/\s*(?:[,;&]|\s\+\s|\band\b)\s*(?![^()]*\))/i)
    .map((piece) =>
      piece
        .trim()
        .replace(/^#(?=\S)/, "")
        .replace(/\.$/, ""),
    )
    .filter((piece) => piece !== "");
}

/** Ids as written, an empty list when the piece is no dependency, null when it is a remark. */
function idsOfPiece(
  piece: string,
  ids: PlanIds,
  strict: "prose" | "ids",
): readonly string[] | null {
  const bare = piece.replace(LEADING_WORD, "");
  if (ids.known.has(bare.toLowerCase())) return [bare];
  if (bare.length <= LONGEST_ID_PIECE) {
    if (RANGE.test(bare)) return [bare];
    if (DOCUMENT.test(bare)) return [];
    const id = ID_THEN_END.exec(bare)?.[1];
    if (id !== undefined) return [id];
    if (SLUG.test(bare)) return [bare];
  }
  if (strict === "ids") return [bare];
  const mentioned = (bare.match(WORD) ?? [])
    .map((word) => word.replace(/[.-]+$/, ""))
    .filter((word) => ids.known.has(word.toLowerCase()) || ids.families.has(familyOf(word) ?? ""));
  return mentioned.length > 0 ? mentioned : null;
}

/** The letters before the first number: `t` of `T1`, `task-` of `TASK-12`. */
function familyOf(id: string): string | null {
  return /^([a-z]+-?)\d/i.exec(id)?.[1]?.toLowerCase() ?? null;
}
