import { shellWord } from "../config/shell-word.ts";

/** Every hook that githooks(5) knows. */
export const HOOKS: readonly string[] =
  "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman p4-changelist post-index-change".split(
    " ",
  );

/** Every key with which Git starts a program; `EVIL` is one, `SHELL` a shell's command. */
export const PROGRAM_KEYS = `
[core]
	fsmonitor = EVIL
	hooksPath = .git/hooks
	sshCommand = EVIL
	editor = EVIL
	pager = EVIL
	askPass = EVIL
	gitProxy = EVIL
	alternateRefsCommand = EVIL
[diff]
	external = EVIL
[diff "x"]
	command = EVIL
	textconv = EVIL
[merge "x"]
	driver = EVIL
[filter "x"]
	clean = EVIL
	smudge = EVIL
	process = EVIL
[gpg]
	program = EVIL
[log]
	showSignature = true
[credential]
	helper = !SHELL
[alias]
	status = !SHELL
	apply = !SHELL
[trailer "guardloop-run"]
	command = SHELL
[hook "x"]
	command = SHELL
	event = post-index-change
[uploadpack]
	packObjectsHook = EVIL
[interactive]
	diffFilter = EVIL
[include]
	path = included
[extensions]
	worktreeConfig = true
	partialClone = ev
[remote "ev"]
	url = .
	promisor = true
	uploadpack = EVIL
`;

/**
 * A shell script that puts a program behind every key, hook and attribute of the repository in `$PWD`. The program
 * makes the marker, and says MARKER-RAN.
 *
 * @param evil path of the program as the one who is to start it sees it; the shell expands it.
 */
export function plantedPrograms({ marker, evil }: { marker: string; evil: string }): string {
  const touch = `touch ${shellWord(marker)}`;
  const program = `#!/bin/sh\necho MARKER-RAN >&2\n${touch} marker-in-guest 2>/dev/null\ncat`;
  const config = PROGRAM_KEYS.replaceAll("EVIL", evil).replaceAll("SHELL", touch);
  return `
cat > .git/evil <<'PROGRAM'
${program}
PROGRAM
chmod +x .git/evil
mkdir -p .git/hooks .git/info
for hook in ${HOOKS.join(" ")}; do cp .git/evil .git/hooks/$hook; done
cat > .git/config <<CONFIG
[core]
	repositoryformatversion = 1
	bare = false
${config}
CONFIG
cp .git/config .git/config.worktree
printf '[core]\\n\\tfsmonitor = .git/evil\\n' > .git/included
echo '* filter=x diff=x merge=x' > .git/info/attributes
`;
}
