/** One variable of a `.env` file. The value is a credential as long as nobody knows better. */
export interface EnvVariable {
  readonly name: string;
  readonly value: string;
}

const ASSIGNMENT = /^\s*(?:export\s+|set\s+)?([A-Za-z_][A-Za-z0-9_.-]{0,100})\s*[=:]\s*(.*)$/;
const QUOTES = ['"', "'", "`"] as const;

/**
 * Reads `KEY=VALUE` lines as the many libraries for `.env` files do, taking more rather than less: with `export`, with
 * quotes that may span lines, with comments behind a blank. What is no assignment is skipped.
 */
export function readEnvFile(text: string): readonly EnvVariable[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const found: EnvVariable[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const [, name, rest = ""] = ASSIGNMENT.exec(lines[index] ?? "") ?? [];
    if (name === undefined) continue;
    const quote = QUOTES.find((one) => rest.startsWith(one));
    if (quote === undefined) {
      found.push({ name, value: rest.replace(/\s+#.*$/, "").trim() });
      continue;
    }
    let body = rest.slice(1);
    const last = lines.findIndex((line, at) => at > index && line.includes(quote));
    if (!body.includes(quote) && last !== -1) {
      body = [body, ...lines.slice(index + 1, last + 1)].join("\n");
      index = last;
    }
    found.push({ name, value: quoted(body, quote) });
  }
  return found;
}

/** Nothing, or a comment, up to the end of the text; not over a line's end. */
const COMMENT_ALONE = /^[^\S\n]*(?:#[^\n]*)?$/;

/** Up to the first closing quote behind which there is only a comment: comments have quotes of their own. */
function quoted(body: string, quote: string): string {
  for (let at = body.indexOf(quote); at !== -1; at = body.indexOf(quote, at + 1))
    if (body[at - 1] !== "\\" && COMMENT_ALONE.test(body.slice(at + 1))) return body.slice(0, at);
  const last = body.lastIndexOf(quote);
  return last === -1 ? body.trim() : body.slice(0, last);
}
