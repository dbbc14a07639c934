/**
 * The message, and behind it the trailers: in the message's own block of trailers when it ends with one, else in a
 * paragraph of their own. git-interpret-trailers(1) would put them before a final line that begins with `#`, before
 * `Conflicts:` and before a scissors line, in the middle of the message.
 */
export function withTrailers(message: string, trailers: readonly string[]): string {
  const text = message.trimEnd();
  const gap = text.lastIndexOf("\n\n");
  const [first = "", ...rest] = text.slice(gap + 2).split("\n");
  const endsWithTrailers =
    gap > 0 && TRAILER.test(first) && rest.every((line) => TRAILER_OR_MORE.test(line));
  const between = text === "" ? "" : endsWithTrailers ? "\n" : "\n\n";
  return `${text}${trailers.length === 0 ? "" : between}${trailers.join("\n")}\n`;
}

const TRAILER = /^[A-Za-z0-9-]+: /;
/** Or a line that continues the one before. */
const TRAILER_OR_MORE = /^(?:[A-Za-z0-9-]+: |[ \t]+\S)/;
