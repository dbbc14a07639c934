/** A string, a comment, or a comma before a closing bracket; whatever is inside of a string is left alone. */
const TOKEN =
  /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*[}\]])/g;

/** JSON with comments and trailing commas, as editors write it; undefined when it is not even that. Never throws. */
export function jsonWithComments(text: string): unknown {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replaceAll(TOKEN, (token) => (token.startsWith('"') ? token : " "));
  try {
    return JSON.parse(plain);
  } catch {
    return undefined;
  }
}
