import type { HistoryShape, Identity } from "../../src/core/artifacts.ts";

/** Shell functions for the cases; every case runs in the workspace, in a shell of its own. */
export const PRELUDE = String.raw`
# commit MESSAGE [OPTION…]: everything there is, with exactly this message; printf's escapes count.
commit() {
  printf '%b' "$1" > "$TMPDIR/message"; shift
  git add -A; git commit -q --allow-empty --allow-empty-message --cleanup=verbatim -F "$TMPDIR/message" "$@"
}
# raw HEADERS MESSAGE: a commit object that git commit would not make.
raw() {
  git add -A
  { printf 'tree %s\nparent %s\n' "$(git write-tree)" "$(git rev-parse HEAD)"; printf '%b' "$1"; printf '\n'; printf '%b' "$2"; } > "$TMPDIR/commit"
  git update-ref HEAD "$(git hash-object --literally -t commit -w "$TMPDIR/commit")"
}
WHO='author A <a@example.com> 1700000000 +0000\ncommitter A <a@example.com> 1700000000 +0000\n'
`;

const DIFF = String.raw`diff --git a/evil.txt b/evil.txt\nnew file mode 100644\n--- /dev/null\n+++ b/evil.txt\n@@ -0,0 +1 @@\n+evil\n`;
const SHA = "1234567890123456789012345678901234567890";

export interface FidelityCase {
  /** The catalogue's number, and what it is about. */
  readonly name: string;
  readonly script: string;
  /** The message as it arrives, where it is not the commit's own, trimmed. */
  readonly message?: string;
  /** What arrives of the author where it is not exactly the commit's. */
  readonly author?: Partial<Identity>;
}

function message(name: string, text: string, arrives?: string): FidelityCase {
  const number = name.split(" ", 1)[0] ?? "";
  const script = `echo ${number} > message-${number}; commit '${text}'`;
  return { name, script, ...(arrives === undefined ? {} : { message: arrives }) };
}

/** Every one ends with the same trees, messages and authors. */
export const SAME: readonly FidelityCase[] = [
  message("01 an ordinary change", String.raw`Add it\n\nBecause.\n`),
  message("02 a tag in the subject", String.raw`[core] fix\n`),
  message("02b a reply as subject", String.raw`Re: x\n`),
  message("03 a subject of two lines", String.raw`One\ntwo\n\nBody\n`),
  message("04 three dashes in the message", String.raw`Fix\n\nabove\n---\nbelow\n`),
  message("05 a diff in the message", String.raw`Fix\n\n${DIFF}`),
  message("06 a mailbox line", String.raw`Fix\n\nFrom ${SHA} Mon Sep 17 00:00:00 2001\nbelow\n`),
  message(
    "07 headers in the message",
    String.raw`Fix\n\nFrom: Linus Torvalds <l@example.com>\nDate: Mon, 1 Jan 2001 00:00:00 +0000\n`,
  ),
  message("08 scissors", String.raw`Fix\n\nabove\n-- >8 --\nbelow\n`),
  message("08b Git's own scissors", String.raw`Fix\n\n# ----- >8 -----\nbelow\n# end\n`),
  message("09 trailing blanks and blank runs", String.raw`Fix  \n\n\n\nx \t\n\n y \n`),
  message("10 no message at all", "", "Do the task\n\nAs asked."),
  message("11 carriage returns in the message", String.raw`Fix\r\n\r\nBody\r\n`, "Fix\n\nBody"),
  message(
    "147 lines that look like parts of a diff",
    String.raw`Fix\n\nIndex: x\ndiff -u\n--- a/x\n-- \ndiff --git a/x b/x\n`,
  ),
  message("147b lines that other parts of Git take apart", String.raw`Fix\n\nConflicts:\n\tx\n`),
  { name: "12 carriage returns in a file", script: "printf 'a\\r\\nb\\r\\n' > crlf; commit X" },
  { name: "13 blanks at the ends of lines", script: "printf 'a  \\nb\\t\\n \\n' > ws; commit X" },
  { name: "14 an empty commit, then another", script: "commit Empty; echo y > y; commit Y" },
  {
    name: "14c an empty commit between others",
    script: "echo 1 > z; commit 1; commit 2; echo 3 > z; commit 3",
  },
  {
    name: "17 a binary that is added and changed",
    script: String.raw`head -c 3000 /dev/urandom > bin; commit Add; printf '\0\1\2' >> bin; commit Change`,
  },
  {
    name: "18 text that is said to be binary",
    script:
      "mkdir 18; echo '* -diff' > 18/.gitattributes; echo a > 18/a; commit A; echo b > 18/a; commit B",
  },
  {
    name: "19 a change of mode alone",
    script: "echo x > script; commit Add; chmod +x script; commit Mode",
  },
  { name: "20 a link to /etc/passwd", script: "ln -s /etc/passwd passwd; commit Link" },
  {
    name: "21 a link to a directory that becomes one",
    script: "ln -s src dir; commit Link; rm dir; mkdir dir; echo x > dir/x; commit Directory",
  },
  {
    name: "22 names that are not UTF-8",
    script: String.raw`echo x > "$(printf 'caf\351')"; commit X; echo y > "$(printf 'caf\351')"; commit Y`,
  },
  {
    name: "23 names with quotes and backslashes",
    script: String.raw`for n in 'q"t' 'a\\b' "it's" ' b '; do echo x > "$(printf "$n")"; done; commit X`,
  },
  {
    name: "24 names that turn a line around",
    script: String.raw`for n in '\342\200\256gnp' 'z\342\200\213w'; do echo x > "$(printf "$n")"; done; commit X`,
  },
  {
    name: "25 names that differ in case alone",
    script: "mkdir 25; echo a > 25/x; echo b > 25/X; commit X; rm 25/x; commit Y",
  },
  {
    name: "28 a message in another encoding",
    script: String.raw`echo x > 28; raw "$WHO"'encoding ISO-8859-1\n' 'Caf\0351\n'`,
    message: "Café",
  },
  {
    name: "30 somebody else as author",
    script: "echo x > 30; commit X --author='Linus Torvalds <torvalds@example.com>'",
  },
  {
    name: "31b an author date in the year 5138",
    script: String.raw`echo x > 31b; raw 'author A <a@example.com> 99999999999 +0000\ncommitter A <a@example.com> 1 +0000\n' 'X\n'`,
    author: { date: "1795970832 +0000" },
  },
  {
    name: "E2 an author's local time before the epoch",
    script: String.raw`echo x > E2; raw 'author A <a@example.com> 0 -1200\ncommitter A <a@example.com> 1 +0000\n' 'X\n'`,
    author: { date: "1795970832 +0000" },
  },
  {
    name: "E3 a signature, a merged tag and a header that nobody knows",
    script: String.raw`echo x > E3; raw "$WHO"'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\nmergetag object x\nx-unknown y\n' 'X\n'`,
  },
  {
    name: "120 line ends by attribute",
    script: String.raw`mkdir 120; echo '* text eol=crlf' > 120/.gitattributes; printf 'a\r\n' > 120/a; commit X; printf 'b\r\n' >> 120/a; commit Y`,
  },
  {
    name: "121 an encoding by attribute",
    script: String.raw`mkdir 121; echo '*.u working-tree-encoding=UTF-16LE' > 121/.gitattributes; printf 'a\0\n\0' > 121/a.u; commit X`,
  },
  {
    name: "122 keywords by attribute",
    script: String.raw`mkdir 122; echo '* ident' > 122/.gitattributes; printf '$Id$\n$Id: forged $\n' > 122/a; commit X; echo x >> 122/a; commit Y`,
  },
  {
    name: "123 text=auto over a file that has carriage returns already",
    script: String.raw`mkdir 123; printf 'a\r\n' > 123/a; commit X; echo '* text=auto' > 123/.gitattributes; printf 'b\r\n' >> 123/a; commit Y`,
  },
  {
    name: "145 no final line end, an empty file, names that are swapped",
    script:
      "mkdir 145; printf a > 145/a; : > 145/b; commit X; mv 145/a 145/c; mv 145/b 145/a; mv 145/c 145/b; commit Y; printf b >> 145/b; commit Z",
  },
  {
    name: "146 a line of 20 MB, and text with a NUL far in",
    script: String.raw`head -c 20000000 /dev/zero | tr '\0' x > long; { seq 9000; printf 'a\0b\n'; } > nul; commit X; sed -i 's/^7$/seven/' nul; commit Y`,
  },
];

export interface FlattenedCase {
  readonly name: string;
  readonly script: string;
  readonly reason: Extract<HistoryShape, { kind: "flattened" }>["reason"] | RegExp;
  /** Files that the work consists of; by default what the workspace's own index says. */
  readonly files?: readonly string[];
}

const SIDE =
  "git checkout -q -b side; echo s > s; commit Side; git checkout -q main; echo x > x; commit X;";
const MERGE = "the history has a merge commit";

/** Every one arrives as one commit with the same tree, and what was lost is said. */
export const DECLARED: readonly FlattenedCase[] = [
  { name: "15 a merge", script: `${SIDE} git merge -q --no-edit side`, reason: MERGE },
  {
    name: "16 a merge that resolves a conflict",
    script: `git checkout -q -b side; echo s > src/a.txt; commit Side; git checkout -q main; echo m > src/a.txt; commit Main
             git merge -q side || true; echo both > src/a.txt; commit Resolved`,
    reason: MERGE,
  },
  {
    name: "16b a file that only the merge commit has",
    script: `${SIDE} git merge -q --no-commit side; echo e > only-here; commit Merged`,
    reason: MERGE,
  },
  {
    name: "26 a submodule",
    script: `git init -q ../lib; (cd ../lib; echo l > l; git add l; git commit -qm Lib)
             git -c protocol.file.allow=always submodule --quiet add ../lib lib; commit Submodule`,
    reason: "a commit links to a nested repository, whose files are recorded instead",
    files: [".gitmodules", "README.md", "lib/l", "src/a.txt"],
  },
  {
    name: "27 a repository that was made inside by accident",
    script: `mkdir app; cd app; git init -q; echo a > a; commit A; cd ..; git add app 2>/dev/null; git commit -qm App`,
    reason: "a commit links to a nested repository, whose files are recorded instead",
    files: ["README.md", "app/a", "src/a.txt"],
  },
  {
    name: "29 a message that is not UTF-8",
    script: String.raw`echo x > x; raw "$WHO" 'Caf\0351\n'`,
    reason: /^message or author of commit [0-9a-f]{12} cannot be given exactly as UTF-8 text$/,
  },
];
