import { devNull } from "node:os";
import type { Environment } from "../process/command.ts";
import type { Git } from "./git.ts";

/** Every event of githooks(5). */
const EVENTS =
  "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change".split(
    " ",
  );

export type ConfigPair = readonly [key: string, value: string];

/**
 * No hook runs. `core.hooksPath` stops the ones in a directory, and nothing else. From Git 2.54 on a configuration can
 * name programs to run as hooks (`hook.NAME.command`, `hook.NAME.event`): 2.55 knows a switch for all of an event,
 * 2.54 only one for each name (see `namedHooksOff`). Older versions ignore keys that they do not know.
 */
export const HOOKS_OFF: readonly ConfigPair[] = [
  ["core.hooksPath", devNull],
  ...EVENTS.map((event): ConfigPair => [`hook.${event}.enabled`, "false"]),
];

/** Definitions of hooks, and what says that objects of a partial clone are elsewhere. */
const TELLING_KEYS = String.raw`^(hook\..*\.(command|event)|extensions\.partialclone|remote\..*\.promisor)$`;

/** The keys that the configuration seen by this Git has among those that decide about what guardloop does there. */
export async function askTellingKeys(git: Git): Promise<readonly string[]> {
  const found = await git.exec(["config", "--null", "--name-only", "--get-regexp", TELLING_KEYS]);
  // Status 1: there is none. A configuration that cannot be read stops the command that comes after, too.
  return found.code === 0 ? found.stdout.toString("utf8").split("\0").filter(Boolean) : [];
}

/** The switches for the hooks that a configuration defines, whatever they are called. */
export function namedHooksOff(keys: readonly string[]): readonly ConfigPair[] {
  const names = keys.map((key) => /^hook\.([^]*)\.(?:command|event)$/.exec(key)?.[1] ?? "");
  return [...new Set(names)]
    .filter((name) => name !== "")
    .map((name): ConfigPair => [`hook.${name}.enabled`, "false"]);
}

/** Configuration through the environment: weighs as much as `-c`, and takes names with any character in them. */
export function configEnvironment(pairs: readonly ConfigPair[]): Environment {
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(pairs.length)],
    ...pairs.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

/** The environment with one more setting, for a key that `-c KEY=VALUE` cannot take: it ends at the first `=`. */
export function withConfig(environment: Environment, [key, value]: ConfigPair): Environment {
  const count = Number(environment["GIT_CONFIG_COUNT"] ?? "0");
  return {
    ...environment,
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: key,
    [`GIT_CONFIG_VALUE_${count}`]: value,
  };
}
