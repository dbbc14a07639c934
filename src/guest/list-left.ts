import { allOf } from "./all-of.ts";
import type { Exclude } from "./exclude.ts";
import { must } from "./git.ts";
import { countIgnored } from "./ignored.ts";
import { type LeftBehind, leftBehind } from "./left-behind.ts";
import { nulSeparated } from "./nul-separated.ts";
import type { OwnIndex } from "./own-index.ts";

/** Adds what is in no patch, after everything was added: first what could not be recorded, then what is ignored. */
export async function listLeft(index: OwnIndex, exclude: Exclude, left: LeftBehind): Promise<void> {
  const ignored = leftBehind();
  const [paths] = await allOf([notRecorded(index, exclude), countIgnored(index, exclude, ignored)]);
  for (const path of paths) left.add(path);
  left.addAll(ignored);
}

/** What is still untracked or different, for example a tracked file that is a FIFO now. */
async function notRecorded(index: OwnIndex, exclude: Exclude): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  const stdout = nulSeparated((path) => {
    if (!exclude.has(path.replace(/\/$/, ""))) paths.add(path);
  });
  const args = ["ls-files", "-z", "--others", "--modified", "--exclude-standard"];
  await must(index.git, args, { ...index.view, stdout });
  return paths;
}
