import { type Layer, findSetting } from "./layer.ts";
import { show } from "./written.ts";

/** Sentences about the values of a layer that only the user's own file may hold. */
export function misplaced(layer: Layer): readonly string[] {
  return Array.from(layer.values, ([key, { written, where }]) => {
    const setting = findSetting((candidate) => candidate.key === key);
    const rule = setting?.ownFileOnly;
    if (setting === undefined || rule?.test(written) !== true) return [];
    return [
      `${where} ${key} = ${show(setting.shown(written))}: ${rule.why}, so it counts from your own file only; write it into ~/.config/guardloop/config.toml.`,
    ];
  }).flat();
}
