import { type Git, gitText } from "../../git/git.ts";

/** Oldest first; undefined when the repository does not have them. */
export async function commitsBetween(
  git: Git,
  base: string,
  head: string,
): Promise<readonly { readonly commit: string; readonly tree: string }[] | undefined> {
  const range = [`${base}..${head}`, "--"];
  const listed = await gitText(git, [
    "log",
    "--reverse",
    "--topo-order",
    "--format=%H %T",
    ...range,
  ]);
  if (!listed.ok) return undefined;
  const lines = listed.value.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [commit = "", tree = ""] = line.split(" ");
    return { commit, tree };
  });
}
