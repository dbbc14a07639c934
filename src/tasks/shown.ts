const LONGEST = 80;

/** Text from a plan for use inside a message: cut to a readable length. Control characters stay: who prints escapes. */
export function shown(text: string): string {
  if (text.length <= LONGEST) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, LONGEST).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
