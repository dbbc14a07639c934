import { type ConfigFile } from "../config/file-layer.ts";
import { type ResolvedSettings, loadSettings } from "../config/load.ts";
import type { FlagValues } from "../config/text-layer.ts";
import { isTrusted } from "../config/trust.ts";
import { REPOSITORY_FILE, readUserFile } from "../config/user-file.ts";
import { type Failure } from "../core/failures.ts";
import { type Result, ok } from "../core/result.ts";
import { type Principal, headOf } from "../git/principal.ts";
import { readFileAt } from "../git/read-files.ts";
import { type Context, repositoryOf } from "./context.ts";

/** The repository's configuration file as it is at a commit; undefined when there is none. */
export async function repositoryFileAt(
  principal: Principal,
  commit: string,
): Promise<Result<ConfigFile | undefined, Failure>> {
  const text = await readFileAt(principal.git, commit, REPOSITORY_FILE);
  if (!text.ok) return text;
  return ok(text.value === undefined ? undefined : { path: REPOSITORY_FILE, text: text.value });
}

/** Puts the settings together for one invocation. The repository's file is read from a commit, not from the disk. */
export async function settingsFor(
  context: Context,
  at: { readonly principal: Principal; readonly commit: string } | undefined,
  flags: FlagValues,
): Promise<Result<ResolvedSettings, Failure>> {
  const userFile = await readUserFile(context.env.configDir);
  if (!userFile.ok) return userFile;
  const found = at === undefined ? ok(undefined) : await repositoryFileAt(at.principal, at.commit);
  if (!found.ok) return found;
  const repositoryFile = found.value;
  const trusted =
    at === undefined || repositoryFile === undefined
      ? ok("no" as const)
      : await isTrusted(context.env.stateDir, at.principal.repositoryId, repositoryFile.text);
  if (!trusted.ok) return trusted;
  return loadSettings({
    repositoryFile,
    userFile: userFile.value,
    guard: context.env.guard,
    flags,
    trusted: trusted.value,
  });
}

/** The settings of wherever the command is called: with the repository's file inside of one, without it elsewhere. */
export async function settingsHere(
  context: Context,
  flags: FlagValues,
): Promise<Result<ResolvedSettings, Failure>> {
  const found = await repositoryOf(context);
  if (!found.ok) return settingsFor(context, undefined, flags);
  const head = await headOf(found.value);
  const { principal } = found.value;
  const at = head.ok ? { principal, commit: head.value.commit } : undefined;
  return settingsFor(context, at, flags);
}
