import type { Written } from "./setting.ts";
import { type AnySetting, SETTINGS, type SettingKey } from "./table.ts";

/** One source of values: a file, the environment, or the command line. */
export interface Layer {
  readonly values: ReadonlyMap<SettingKey, LayerValue>;
  /** Sentences; any of them makes the configuration invalid. */
  readonly problems: readonly string[];
  readonly notices: readonly string[];
}

export interface LayerValue {
  readonly written: Written;
  /** `guardloop.toml:3:1`, `GUARD_MEMORY` or `--memory`. */
  readonly where: string;
}

export const EMPTY_LAYER: Layer = { values: new Map(), problems: [], notices: [] };

export function findSetting(matches: (setting: AnySetting) => boolean): AnySetting | undefined {
  const settings: readonly AnySetting[] = SETTINGS;
  return settings.find((setting) => matches(setting));
}

/**
 * Checks a value against its setting.
 *
 * @returns the index of the list's element that is wrong, `whole` when the value itself is, or undefined when it is good.
 */
export function checkValue(setting: AnySetting, value: unknown): number | "whole" | undefined {
  const checked = setting.schema.safeParse(value);
  if (checked.success) return undefined;
  const index = checked.error.issues[0]?.path[0];
  return typeof index === "number" ? index : "whole";
}
