import type { SettingOrigin } from "./load.ts";
import { findSetting } from "./layer.ts";

/** The values in force that loosen the boundary around the agent, each with where it came from. */
export function loosenedBy(origins: readonly SettingOrigin[]): readonly SettingOrigin[] {
  return origins.filter(({ key, value, origin }) => {
    const setting = findSetting((one) => one.key === key);
    if (setting === undefined || setting.loosensWhen === null || origin === "default") return false;
    // A value that is not shown as it was written cannot be judged any more: better named than passed over.
    return !setting.schema.safeParse(value).success || setting.loosens(value);
  });
}
