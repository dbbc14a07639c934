import { basename, join } from "node:path";
import type { HostEnvironment } from "../../core/environment.ts";
import type { Principal } from "../../git/principal.ts";
import { builtinTidy } from "../../lease/builtin.ts";
import type { PoolTidy } from "../../lease/builtin/tidy.ts";

/** Where all pools are. */
export function poolRoot(stateDir: string): string {
  return join(stateDir, "worktrees");
}

/** The built-in pool of a repository, whatever pool its runs use now. */
export function tidyOf(env: HostEnvironment, principal: Principal): PoolTidy {
  return builtinTidy({
    git: principal.git,
    poolRoot: poolRoot(env.stateDir),
    repositoryId: principal.repositoryId,
    commonDir: principal.commonDir,
    basename: basename(principal.topLevel) || "worktree",
    host: env.hostname,
  });
}
