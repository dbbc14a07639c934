import { type Layer, type LayerValue, findSetting } from "./layer.ts";
import { shellWord } from "./shell-word.ts";
import type { Flag, Written } from "./setting.ts";
import type { AnySetting } from "./table.ts";
import { show } from "./written.ts";

export interface LeftOut {
  readonly setting: AnySetting;
  readonly value: LayerValue;
}

/** Takes the values out of a repository's layer that would loosen the boundary around the agent. */
export function withoutLoosening(layer: Layer): {
  readonly layer: Layer;
  readonly leftOut: readonly LeftOut[];
} {
  const values = new Map(layer.values);
  const leftOut: LeftOut[] = [];
  for (const [key, value] of layer.values) {
    const setting = findSetting((candidate) => candidate.key === key);
    if (setting?.loosens(value.written) !== true) continue;
    values.delete(key);
    leftOut.push({ setting, value });
  }
  return { layer: { ...layer, values }, leftOut };
}

/** Says which value was not used, where it is, and the two ways to have it. */
export function looseningNotice({ setting, value }: LeftOut): string {
  const what = `${value.where} ${setting.key} = ${show(value.written)} is not used`;
  const how = asFlag(setting.flag, value.written);
  return `${what}: it loosens the boundary; run \`guardloop trust\` or pass ${how}.`;
}

function asFlag(flag: Flag, written: Written): string {
  if ("sets" in flag) return flag.name;
  const values = typeof written === "object" ? written : [String(written)];
  return values.map((value) => `${flag.name} ${shellWord(value)}`).join(" ");
}
