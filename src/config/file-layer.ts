import { type Layer, type LayerValue, checkValue, findSetting } from "./layer.ts";
import { nearMiss } from "./near-miss.ts";
import { SECTIONS, SETTINGS, type SettingKey } from "./table.ts";
import { type TextPosition, type TomlItem, readToml } from "./toml.ts";
import { isWritten, shorten, showToml } from "./written.ts";

/** A configuration file. `path` is only used to name it. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
}

const LIMIT_CHARS = 64 * 1024;

/** Reads every value of a file; finds all problems, not just the first (except in text that is not TOML). */
export function readFileLayer(file: ConfigFile): Layer {
  const place = (at: TextPosition): string => `${file.path}:${at.line}:${at.column}`;
  if (file.text.length > LIMIT_CHARS)
    return { values: new Map(), problems: [`${file.path} is longer than 64 KiB.`], notices: [] };
  const items = readToml(file.text);
  if (!items.ok) {
    const problem = `${place(items.error.at)} ${items.error.message}.`;
    return { values: new Map(), problems: [problem], notices: [] };
  }
  const values = new Map<SettingKey, LayerValue>();
  const problems: string[] = [];
  const refused = new Set<string>();
  for (const item of items.value) {
    // One sentence for a table that should not be there is enough; its keys would only repeat it.
    if (parentsOf(item.path).some((parent) => refused.has(parent))) continue;
    const judged = judge(item);
    if (judged.kind === "wrong") {
      refused.add(JSON.stringify(item.path));
      problems.push(`${place(judged.at)} ${judged.message}`);
    }
    if (judged.kind === "value")
      values.set(judged.key, { written: judged.written, where: place(item.at) });
  }
  return { values, problems, notices: [] };
}

function parentsOf(path: readonly string[]): readonly string[] {
  // No table is deeper than one level; the rest is somebody's mistake, or somebody's attempt to keep us busy.
  return path.slice(0, 8).map((_, index) => JSON.stringify(path.slice(0, index)));
}

type Judged =
  | { readonly kind: "section" }
  | { readonly kind: "wrong"; readonly message: string; readonly at: TextPosition }
  | { readonly kind: "value"; readonly key: SettingKey; readonly written: LayerValue["written"] };

function judge(item: TomlItem): Judged {
  const wrong = (message: string, at = item.at): Judged => ({ kind: "wrong", message, at });
  const dotted = item.path.join(".");
  const setting = findSetting(({ key }) => item.path.length === 2 && key === dotted);
  if (item.path.length === 1 && isSection(dotted)) {
    if (item.kind === "table") return { kind: "section" };
    return wrong(`${dotted} is a section: write [${dotted}] on a line of its own.`);
  }
  if (setting === undefined) return wrong(unknownKey(item));
  if (item.kind !== "value") return wrong(`${dotted} is a table: expected ${setting.expects}.`);
  const bad = checkValue(setting, item.value);
  if (bad === undefined && isWritten(item.value))
    return { kind: "value", key: setting.key, written: item.value };
  const at = typeof bad === "number" ? item.elementsAt[bad] : undefined;
  // What may hold a secret is not repeated, not even where it is wrong.
  const shown = isWritten(item.value) ? setting.shown(item.value) : item.value;
  return wrong(`${dotted} = ${showToml(shown)}: expected ${setting.expects}.`, at);
}

function isSection(name: string): boolean {
  return Object.hasOwn(SECTIONS, name);
}

function unknownKey(item: TomlItem): string {
  const dotted = item.path.join(".");
  const [section = "", name] = item.path;
  if (name === undefined && item.kind !== "value") {
    const near = nearMiss(section, Object.keys(SECTIONS));
    return `there is no section [${shorten(section)}]${near === undefined ? "." : `; did you mean [${near}]?`}`;
  }
  const guess = suggest(section, name ?? section);
  return `there is no setting ${shorten(dotted)}${guess === undefined ? "." : `; did you mean ${guess}?`}`;
}

/** First a setting of that very name in another section, then a near miss in this section, then any. */
function suggest(section: string, name: string): string | undefined {
  const moved = findSetting((setting) => setting.name === name)?.key;
  if (moved !== undefined) return moved;
  const here = SETTINGS.filter((setting) => setting.section === section);
  const near = nearMiss(
    name,
    here.map((setting) => setting.name),
  );
  if (near !== undefined) return `${section}.${near}`;
  return nearMiss(
    `${section}.${name}`,
    SETTINGS.map(({ key }) => key),
  );
}
