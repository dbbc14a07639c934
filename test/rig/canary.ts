import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * What a program in a container can read of a value: everything but what the kernel makes up for the whole machine. To
 * be run by the agent; prints `trace: PATH` for each place, which the text of the script itself is not, and
 * `looked: COUNT` at the end.
 */
export const SEARCH_INSIDE = `
needle=$(printf %s "$1" | rev)
count=0
for place in /proc/self/environ /proc/1/environ /proc/*/environ /proc/*/cmdline; do
  count=$((count + 1))
  if tr '\\0' '\\n' < "$place" 2>/dev/null | grep -qF -- "$needle"; then printf 'tra%s: %s\\n' ce "$place"; fi
done
grep -rlF --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=lib -- "$needle" / 2>/dev/null | while read -r place; do printf 'tra%s: %s\\n' ce "$place"; done
echo "looked: $count"
`;

/** How a needle is given to SEARCH_INSIDE, so that the search does not find itself. */
export function reversed(needle: string): string {
  return Array.from(needle).toReversed().join("");
}

/** Paths of regular files below a directory that hold a text, raw or in base64. */
export function filesHolding(directory: string, text: string): readonly string[] {
  const forms = [text, Buffer.from(text).toString("base64").replace(/=+$/, "")];
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .filter((path) => {
      const bytes = readFileSync(path);
      return forms.some((form) => bytes.includes(form));
    });
}

/** Command lines and environments of this machine's processes that hold a text; those of `except` left out. */
export function processesHolding(text: string, except: ReadonlySet<number>): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && !except.has(Number(name)))
    .filter((pid) =>
      ["cmdline", "environ"].some((file) => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, "latin1").includes(text);
        } catch {
          return false;
        }
      }),
    );
}
