/**
 * The beginning of every script, which ends at the first command that fails. `skip WHY` ends it as an attack that cannot be tried, `need PROGRAM…` does so when the
 * image lacks one, `finish` leaves the required artifacts, `commit ARGS` commits everything.
 */
const PRELUDE = `
set -e
skip() { echo "guardloop selftest: skipped: $1"; exit 0; }
need() { for program; do command -v "$program" >/dev/null 2>&1 || skip "the image has no $program"; done; }
finish() {
  echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
  echo "Do T1" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
}
commit() { git add -A && git commit -q "$@"; }
`;

const TRIED = "guardloop selftest: tried";
const SKIPPED = /^guardloop selftest: skipped: (.{1,200})$/m;

/** A scripted agent. It does some work and finishes like a good one before it turns to what it is for. */
export function scripted(attack: string): string {
  return `${PRELUDE}\necho work > work.txt\nfinish\n${attack}\necho "${TRIED}"\n`;
}

/** Whether a script came to its end: an attack that was not carried out proves nothing by what did not happen. */
export function wasTried(log: string): boolean {
  return log.split("\n").includes(TRIED);
}

/** The last thing a script said, for one that did not come to its end. */
export function lastLine(log: string): string {
  return log.trim().split("\n").at(-1)?.slice(0, 200) ?? "";
}

/** Why a script could not try what it is for; undefined when it could. */
export function whySkipped(log: string): string | undefined {
  return SKIPPED.exec(log)?.[1];
}

/** JavaScript for \`node -e\` as one word of the shell. */
export function nodeProgram(source: string): string {
  return `node -e '${source.replaceAll("'", "'\\''")}'`;
}
