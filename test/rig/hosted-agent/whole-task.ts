/** Shell commands by which a scripted model brings the world's first task to its end. */
export const MARK_DONE = `awk '/^## /{here=($2=="T1")} here && /^Status: ready/{sub("ready","done")} {print}' docs/TASKS.md > "$TMPDIR/plan" && cat "$TMPDIR/plan" > docs/TASKS.md`;
export const ARTIFACTS = `echo T1 > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt" && echo "Add the first file" > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`;
