import type { Git } from "../../git/git.ts";
import type { TreehouseCaller } from "./caller.ts";
import type { TreehouseVersion } from "./version.ts";

/** What the parts of the treehouse driver share. */
export interface TreehousePool {
  readonly caller: TreehouseCaller;
  readonly version: TreehouseVersion;
  /** Our own pool root for this repository and major version; exists, and holds no symbolic link. */
  readonly root: string;
  /** The user's own git, bound to the principal checkout. */
  readonly git: Git;
  readonly commonDir: string;
}
