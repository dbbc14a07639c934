/** Nothing that guardloop writes is nested nearly as deep; far deeper data overflows the stack of whoever walks it. */
const DEEPEST = 100;

const STEPS: Readonly<Record<string, number>> = { "{": 1, "[": 1, "}": -1, "]": -1 };

/** JSON of an archive that anybody may have made. Undefined where it is none, or nested deeper than anything of ours. */
export function parseBounded(bytes: Buffer | undefined): unknown {
  if (bytes === undefined || isTooDeep(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Counts brackets outside of texts; what is no JSON may be called too deep as well. */
export function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const character = String.fromCharCode(bytes[at] ?? 0);
    if (character === '"') isText = !isText;
    if (isText && character === "\\") at += 1;
    if (!isText) depth += STEPS[character] ?? 0;
    if (depth > DEEPEST) return true;
  }
  return false;
}
