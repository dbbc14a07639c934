import type { z } from "zod";

/** A value as a person writes it in TOML. `""` stands for "not set" where a setting has no default. */
export type Written = string | number | readonly string[];

/** A command line option: one that takes a value, or a switch that sets one. */
export type Flag =
  | { readonly name: `--${string}`; readonly takes: string }
  | { readonly name: `--${string}`; readonly sets: string };

interface Loosening<T> {
  /** Completes the sentence "needs trust …". */
  readonly when: string;
  readonly test: (value: T) => boolean;
}

interface SettingSpec<Key extends string, T> {
  /** Section and name in TOML, for example `container.memory`. */
  readonly key: Key;
  readonly guard: `GUARD_${string}`;
  readonly flag: Flag;
  /**
   * How text from the environment or the command line becomes a TOML value. `lines` is a list whose elements may hold
   * commas: each time the option is given is one of them.
   */
  readonly kind: "text" | "number" | "list" | "lines" | "words";
  /** Takes the written value, gives the final one. */
  readonly schema: z.ZodType<T>;
  /** Completes the sentence "expected …". */
  readonly expects: string;
  /** The default, as it would be written. */
  readonly standard: Written;
  /** One line. */
  readonly description: string;
  /**
   * Which values of a repository's file would loosen the boundary around the agent. They count only after the
   * user has trusted that file: a repository must not be able to open its own cage.
   */
  readonly loosening: Loosening<T> | "never";
  /** Values that only the user's own file may hold: not the environment, no flag, and no repository, trusted or not. */
  readonly ownFileOnly?: {
    /** Begins the sentence that refuses one. */
    readonly why: string;
    readonly test: (written: Written) => boolean;
  };
  /** How a value that may hold a secret stands in output and in records; without it, as written. */
  readonly shown?: (written: Written) => Written;
}

export interface Setting<Key extends string, T> extends Omit<
  SettingSpec<Key, T>,
  "loosening" | "shown"
> {
  readonly section: string;
  readonly name: string;
  /** Null when no value loosens the boundary. */
  readonly loosensWhen: string | null;
  /** The value as it may be shown; see `SettingSpec`. */
  readonly shown: (written: Written) => Written;
  /** @param written a value that the schema accepts. */
  readonly loosens: (written: Written) => boolean;
}

export function setting<const Key extends string, T>(spec: SettingSpec<Key, T>): Setting<Key, T> {
  const { loosening, ...rest } = spec;
  const [section = "", name = ""] = spec.key.split(".");
  return {
    ...rest,
    section,
    name,
    shown: spec.shown ?? ((written) => written),
    loosensWhen: loosening === "never" ? null : loosening.when,
    loosens: (written) => loosening !== "never" && loosening.test(spec.schema.parse(written)),
  };
}
