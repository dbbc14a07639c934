import { type Failure, fail } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type ConfigFile, readFileLayer } from "./file-layer.ts";
import { EMPTY_LAYER, type Layer } from "./layer.ts";
import { misplaced } from "./own-file-only.ts";
import type { Written } from "./setting.ts";
import type { Settings } from "./settings.ts";
import { type AnySetting, SETTINGS, type SettingKey, assemble } from "./table.ts";
import { type FlagValues, readFlagLayer, readGuardLayer } from "./text-layer.ts";
import { looseningNotice, withoutLoosening } from "./trusted-layer.ts";
import type { Trusted } from "./trust.ts";

export interface LoadRequest {
  /** `guardloop.toml` as it is at the principal HEAD; undefined when there is none. */
  readonly repositoryFile: ConfigFile | undefined;
  readonly userFile: ConfigFile | undefined;
  /** Every variable that begins with GUARD_. */
  readonly guard: Readonly<Record<string, string>>;
  readonly flags: FlagValues;
  /** Whether the user has trusted exactly this repository file. */
  readonly trusted: Trusted;
}

export type Origin = "flag" | "environment" | "user file" | "repository file" | "default";

export interface SettingOrigin {
  readonly key: SettingKey;
  /** As it was written; `""` when the setting has no value. */
  readonly value: Written;
  readonly origin: Origin;
  /** `guardloop.toml:3:1`, `GUARD_MEMORY` or `--memory`; null for a default. */
  readonly where: string | null;
}

export interface ResolvedSettings {
  readonly settings: Settings;
  /** One for every setting, in the table's order; for `guardloop config` and the run's record. */
  readonly origins: readonly SettingOrigin[];
  /** Sentences for the user: values that were not used, and why. May hold text of the repository's file. */
  readonly notices: readonly string[];
}

/**
 * Puts the settings together: flag > environment > user file > repository file > default.
 *
 * A value of an untrusted repository file that loosens the boundary is left out and named in a notice.
 *
 * @returns `config-invalid` with every problem of every source; several of them are listed in `details`.
 */
export function loadSettings(request: LoadRequest): Result<ResolvedSettings, Failure> {
  const { repositoryFile, userFile } = request;
  const repository = repositoryFile === undefined ? EMPTY_LAYER : readFileLayer(repositoryFile);
  const ownLayers: readonly (readonly [Origin, Layer])[] = [
    ["flag", readFlagLayer(request.flags)],
    ["environment", readGuardLayer(request.guard)],
    ["user file", userFile === undefined ? EMPTY_LAYER : readFileLayer(userFile)],
  ];
  const written = [...ownLayers, ["repository file", repository] as const];
  const problems = written.flatMap(([origin, layer]) => [
    ...layer.problems,
    ...(origin === "user file" ? [] : misplaced(layer)),
  ]);
  if (problems.length > 0) return invalid(problems);

  const usable =
    request.trusted === "yes" ? { layer: repository, leftOut: [] } : withoutLoosening(repository);
  const layers = [...ownLayers, ["repository file", usable.layer] as const];
  const leftOut = usable.leftOut.filter(
    ({ setting }) => !ownLayers.some(([, layer]) => layer.values.has(setting.key)),
  );
  return ok({
    settings: assemble((setting) => setting.schema.parse(originOf(setting, layers).value)),
    origins: SETTINGS.map((setting) => {
      const found = originOf(setting, layers);
      return { ...found, value: setting.shown(found.value) };
    }),
    notices: [
      ...ownLayers.flatMap(([, layer]) => layer.notices),
      ...leftOut.map((value) => looseningNotice(value)),
    ],
  });
}

function invalid(problems: readonly string[]): Result<never, Failure> {
  const [first = ""] = problems;
  if (problems.length === 1) return fail("config-invalid", first);
  return fail("config-invalid", `The configuration has ${problems.length} problems.`, {
    cure: "Correct each named line or value, then run `guardloop config`.",
    details: problems,
  });
}

/** @param layers strongest first. */
function originOf(
  setting: AnySetting,
  layers: readonly (readonly [Origin, Layer])[],
): SettingOrigin {
  for (const [origin, layer] of layers) {
    const found = layer.values.get(setting.key);
    if (found !== undefined)
      return { key: setting.key, value: found.written, origin, where: found.where };
  }
  return { key: setting.key, value: setting.standard, origin: "default", where: null };
}
