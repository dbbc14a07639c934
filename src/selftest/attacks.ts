import { AFTERMATH, type AftermathName } from "./aftermath.ts";
import type { Attack, Boundary } from "./attack.ts";
import { ARTIFACT_ATTACKS } from "./attacks/artifacts.ts";
import { CONTAINER_ATTACKS } from "./attacks/container.ts";
import { PATCH_ATTACKS } from "./attacks/patches.ts";
import { REPOSITORY_ATTACKS } from "./attacks/repository.ts";

/** Every attack with what it is directed at, in the order in which they are tried. */
export const ATTACKS: readonly (Attack & { readonly boundary: Boundary })[] = [
  ...CONTAINER_ATTACKS.map((attack) => ({ ...attack, boundary: "container" as const })),
  ...ARTIFACT_ATTACKS.map((attack) => ({ ...attack, boundary: "artifacts" as const })),
  ...PATCH_ATTACKS.map((attack) => ({ ...attack, boundary: "patches" as const })),
  ...REPOSITORY_ATTACKS.map((attack) => ({ ...attack, boundary: "repository" as const })),
];

/** A line of the table, before it is tried. */
export interface Listed {
  readonly name: string;
  readonly boundary: Boundary;
  readonly tries: string;
}

/** Everything that `--only` can name: the attacks, then what all of them together may have done to the host. */
export const LIST: readonly Listed[] = [
  ...ATTACKS.map(({ name, boundary, tries }) => ({ name, boundary, tries })),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of our own table
  ...(Object.keys(AFTERMATH) as AftermathName[]).map((name) => ({
    name,
    boundary: "host" as const,
    tries: AFTERMATH[name].tries,
  })),
];
