import { type Layer, type LayerValue, checkValue, findSetting } from "./layer.ts";
import { nearMiss } from "./near-miss.ts";
import type { Written } from "./setting.ts";
import { type AnySetting, SETTINGS, type SettingKey } from "./table.ts";
import { isWritten, show } from "./written.ts";

/** Values of the command line, by key: text as typed, or a list of an option that was given several times. */
export type FlagValues = Readonly<Partial<Record<SettingKey, Written | undefined>>>;

const NUMBER = /^\d{1,15}(?:\.\d{1,9})?$/;
/** A comma outside braces: `docs/{a,b}.md` is one glob. */
const COMMA = /,(?![^{}]*\})/;
/** Characters that a shell would have taken out of words; we do no such thing, so we do not guess. */
const QUOTING = /["'\\]/;

/** Reads the GUARD_ variables. An empty one counts as not set; one that nobody knows is a notice. */
export function readGuardLayer(guard: Readonly<Record<string, string>>): Layer {
  const values = new Map<SettingKey, LayerValue>();
  const problems: string[] = [];
  const notices: string[] = [];
  for (const [name, text] of Object.entries(guard)) {
    const setting = findSetting((candidate) => candidate.guard === name);
    if (setting === undefined) notices.push(unknownVariable(name));
    else if (text !== "") {
      const read = readText(setting, text, name);
      if (typeof read === "string") problems.push(read);
      else values.set(setting.key, read);
    }
  }
  return { values, problems, notices };
}

/** Reads the values of the command line; an undefined one counts as not given. */
export function readFlagLayer(flags: FlagValues): Layer {
  const values = new Map<SettingKey, LayerValue>();
  const problems: string[] = [];
  for (const setting of SETTINGS) {
    const value = flags[setting.key];
    if (value === undefined) continue;
    const read = readText(setting, value, setting.flag.name);
    if (typeof read === "string") problems.push(read);
    else values.set(setting.key, read);
  }
  return { values, problems, notices: [] };
}

/** @returns the value, or a sentence that says what is wrong with it. */
function readText(setting: AnySetting, given: Written, where: string): LayerValue | string {
  const written = typeof given === "object" ? joined(setting, given) : interpret(setting, given);
  if (isWritten(written) && checkValue(setting, written) === undefined) return { written, where };
  const hint =
    setting.kind === "words" && typeof given === "string"
      ? "; write words with spaces or quotes as a JSON list"
      : "";
  return `${where} = ${show(setting.shown(given))}: expected ${setting.expects}${hint}.`;
}

/** An option that takes a list may be given several times; words are already apart. */
function joined(setting: AnySetting, given: readonly string[]): unknown {
  return setting.kind === "list" || setting.kind === "lines"
    ? given.flatMap((text) => interpret(setting, text))
    : given;
}

/** @returns undefined when the text cannot be read as the setting's kind. */
function interpret(setting: AnySetting, given: string | number): unknown {
  const text = String(given);
  switch (setting.kind) {
    case "text":
      return text;
    case "number":
      return NUMBER.test(text) ? Number(text) : undefined;
    case "list":
      return jsonList(text) ?? text.split(COMMA).map((element) => element.trim());
    case "lines":
      return jsonList(text) ?? [text.trim()];
    case "words":
      return jsonList(text) ?? (QUOTING.test(text) ? undefined : text.trim().split(/\s+/));
  }
}

/** A list can always be written as JSON too, which is the only way to write an empty one. */
function jsonList(text: string): unknown {
  if (!text.startsWith("[")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unknownVariable(name: string): string {
  const near = nearMiss(
    name,
    SETTINGS.map((setting) => setting.guard),
  );
  const guess = near === undefined ? "" : `; did you mean ${near}?`;
  return `${name} is not a setting and is ignored${guess === "" ? "." : guess}`;
}
