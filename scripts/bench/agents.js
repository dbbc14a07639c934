// What the scripted agents of the benchmarks do. The same words run in guardloop's container and in the raw one.

/** One commit, with the plan brought up to date. */
export const ONE_COMMIT = `
echo hello > hello.txt
sed 's/^Status: ready/Status: done/' docs/TASKS.md > "$TMPDIR/plan"
cat "$TMPDIR/plan" > docs/TASKS.md
git add -A
git commit -q -m 'Say hello'
`;

/** @param {string} id a command that prints the id of the task */
export function artifacts(id) {
  return `
${id} > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
echo 'Say hello' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
`;
}

/** The one task of a repository that scripts/bench/repository.js made. */
export const GUARDED_AGENT = `set -e\n${ONE_COMMIT}${artifacts("echo T1")}`;

/** Says that it is there to be looked at, and gives the time for it. */
export const WATCHED_AGENT = `set -e\n${ONE_COMMIT}echo bench-pause\nsleep 8\n${artifacts("echo T1")}`;

export const RAW_AGENT = `set -e\n${ONE_COMMIT}git format-patch -q -1 -o /out\n`;
