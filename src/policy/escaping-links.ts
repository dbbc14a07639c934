/** As many links as Linux follows in one path before it gives up (path_resolution(7)). */
const MAX_LINKS_FOLLOWED = 40;

/**
 * Whether a symbolic link leads out of the tree or into `.git`, followed as a system would: component by component,
 * through the tree's other links. Two links can lead out together of which neither does alone: `a -> d/..` is the
 * top of the tree, unless `d` is a link itself.
 *
 * @param links every link of the tree, path to target.
 */
export function leadsOut(
  link: { readonly path: string; readonly target: string },
  links: ReadonlyMap<string, string>,
): boolean {
  if (link.target.startsWith("/")) return true;
  let here = link.path.split("/").slice(0, -1);
  const ahead = link.target.split("/");
  // The link's own text counts even where following would end in a loop.
  for (let followed = 0; ahead.length > 0;) {
    const part = ahead.shift() ?? "";
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (here.length === 0) return true;
      here = here.slice(0, -1);
      continue;
    }
    if (part.toLowerCase() === ".git") return true;
    here = [...here, part];
    const target = links.get(here.join("/"));
    if (target === undefined) continue;
    if (target.startsWith("/")) return true;
    if (++followed > MAX_LINKS_FOLLOWED) return false;
    here = here.slice(0, -1);
    ahead.unshift(...target.split("/"));
  }
  return false;
}
