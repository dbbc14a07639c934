import type { Failure } from "../../src/core/failures.ts";
import {
  type LoadRequest,
  type ResolvedSettings,
  type SettingOrigin,
  loadSettings,
} from "../../src/config/load.ts";
import type { SettingKey } from "../../src/config/table.ts";

interface Sources {
  readonly repository?: string;
  readonly user?: string;
  readonly guard?: LoadRequest["guard"];
  readonly flags?: LoadRequest["flags"];
  readonly trusted?: LoadRequest["trusted"];
}

function load(sources: Sources) {
  const { repository, user } = sources;
  return loadSettings({
    repositoryFile:
      repository === undefined ? undefined : { path: "guardloop.toml", text: repository },
    userFile: user === undefined ? undefined : { path: "/home/ada/config.toml", text: user },
    guard: sources.guard ?? {},
    flags: sources.flags ?? {},
    trusted: sources.trusted ?? "no",
  });
}

export function loaded(sources: Sources): ResolvedSettings {
  const result = load(sources);
  if (!result.ok) throw new Error([result.error.message, ...result.error.details].join("\n"));
  return result.value;
}

export function refused(sources: Sources): Failure {
  const result = load(sources);
  if (result.ok) throw new Error("this configuration should have been refused");
  return result.error;
}

export function originOf(resolved: ResolvedSettings, key: SettingKey): SettingOrigin {
  return resolved.origins.find((origin) => origin.key === key)!;
}
