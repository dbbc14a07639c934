import type { Exclude } from "./exclude.ts";
import { must } from "./git.ts";
import type { LeftBehind } from "./left-behind.ts";
import { nulSeparated, pathText } from "./nul-separated.ts";
import type { OwnIndex } from "./own-index.ts";

const IGNORED = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];

/**
 * Counts the ignored files that the agent left behind. A directory that is ignored as a whole is one entry with a slash at
 * its end, unless overlay files lie in it: then its other files are named one by one.
 */
export async function countIgnored(
  index: OwnIndex,
  exclude: Exclude,
  left: LeftBehind,
): Promise<void> {
  const mixed: string[] = [];
  const stdout = nulSeparated((path) => {
    const bare = path.replace(/\/$/, "");
    if (exclude.has(bare)) return;
    if (path !== bare && exclude.hasBelow(bare)) mixed.push(path);
    else left.add(path);
  });
  const args = [...IGNORED, "--directory", "--no-empty-directory"];
  await must(index.git, args, { ...index.view, stdout });
  for (const directory of mixed)
    await must(index.git, [...IGNORED, "--", pathText(directory)], {
      ...index.view,
      pathspecs: "literal",
      stdout: nulSeparated((path) => {
        if (!exclude.has(path)) left.add(path);
      }),
    });
}
