import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GUEST_EXPORTS } from "../../src/core/artifacts.ts";
import { filesOf, importAsHost } from "./host-import.ts";
import { makeStage, runGuest } from "./rig.ts";

const DIFF = `diff --git a/evil.txt b/evil.txt
new file mode 100644
--- /dev/null
+++ b/evil.txt
@@ -0,0 +1 @@
+evil
`;
const SHA = "1234567890123456789012345678901234567890";

test.each([
  ["a tag", "[core] fix\n"],
  ["a reply", "Re: fix\n"],
  ["a subject of two lines", "One line\nand another\n\nBody\n"],
  ["three dashes", "Fix\n\nabove\n---\nbelow\n"],
  ["a diff", `Fix\n\n${DIFF}`],
  ["a diff as the whole message", DIFF],
  ["a mailbox line", `Fix\n\nFrom ${SHA} Mon Sep 17 00:00:00 2001\nbelow\n`],
  ["a quoted mailbox line", `Fix\n\n>From ${SHA} Mon Sep 17 00:00:00 2001\n`],
  ["a mailbox line as subject", `From ${SHA} Mon Sep 17 00:00:00 2001\n`],
  [
    "mail headers",
    "Fix\n\nFrom: Linus <torvalds@example.com>\nDate: Mon, 1 Jan 2001 00:00:00 +0000\n\nx\n",
  ],
  ["a header as subject", "Subject: hello\n"],
  [
    "MIME headers",
    "Fix\n\nContent-Type: text/plain; charset=UTF-16\nContent-Transfer-Encoding: base64\n\nx\n",
  ],
  ["scissors", "Fix\n\nabove\n-- >8 --\nbelow\n"],
  ["trailing blanks and runs of empty lines", "Fix  \n\n\n\nx  \ty \n\n\n"],
  ["leading empty lines", "\n\nFix\n"],
  ["no final newline", "Fix"],
  ["no message at all", ""],
  ["carriage returns", "Fix\r\n\r\nBody\r\n"],
  ["an index line", "Fix\n\nIndex: x\n==========\ndiff -u a b\n--- a/x\n+++ b/x\n"],
  ["a signature line", "Fix\n\n-- \n2.39.5\n"],
  ["control and escape characters", "Fix\u001b[31m\u0007\n\nBody\u0008\f\n"],
  ["other scripts and emoji", "Füge ein 🎉 日本語\n\nÄöü — fertig\n"],
  ["a very long subject", `${"long ".repeat(400)}end\n`],
  ["trailers", "Fix\n\nSigned-off-by: A <a@example.com>\nFixes: #12\n"],
  ["a byte order mark", "\uFEFFFix\n"],
  ["a list", "Fix\n\n- one\n- two\n\n* three\n"],
])("a message with %s arrives exactly, and changes nothing else", async (_, message) => {
  const stage = makeStage();
  writeFileSync(join(stage.directory, "message"), message);
  const run = await runGuest(stage, {
    agent: `echo x > x; git add x; T=$(git write-tree)
            P=$(git rev-parse HEAD); { git cat-file commit HEAD | sed -n '/^author/p;/^committer/p' > ../who
            printf 'tree %s\\nparent %s\\n' $T $P; cat ../who; echo; cat ../message; } > ../commit
            git update-ref HEAD $(git hash-object -t commit -w ../commit)
            echo y > y; git add y; git commit -qm "One more"`,
  });
  expect(run.output).toBe(`${GUEST_EXPORTS}\n`);
  expect(run.code).toBe(0);
  const imported = importAsHost(stage, run);
  expect(imported.manifest.history).toEqual({ kind: "linear" });
  expect(imported.manifest.patches.map((patch) => patch.message)).toEqual([message, "One more\n"]);
  expect(Object.keys(filesOf(imported))).toEqual(["README.md", "src/a.txt", "x", "y"]);
});

test.each([
  [
    "a name with commas and dots",
    { name: "Smith, J. (dev)", email: "j@x", date: "1700000000 +0530" },
  ],
  [
    "a name in another script",
    { name: "李 明", email: "li@example.com", date: "1700000000 -0800" },
  ],
  ["a name with an escape", { name: "Ev\u001bil", email: "e@x", date: "1700000000 +0000" }],
  ["no name", { name: "", email: "", date: "1700000000 +0000" }],
  ["a date far in the future", { name: "A", email: "a@x", date: "99999999999 +0000" }],
  ["a local time before the epoch", { name: "A", email: "a@x", date: "0 -1200" }],
  ["an impossible zone", { name: "A", email: "a@x", date: "1 +9999" }],
])("an author with %s arrives exactly", async (_, author) => {
  const { name, email, date } = author;
  const stage = makeStage();
  writeFileSync(
    join(stage.directory, "who"),
    `author ${name} <${email}> ${date}\ncommitter A <a@x> 1 +0000\n\nX\n`,
  );
  const run = await runGuest(stage, {
    agent: `echo x > x; git add x
            { printf 'tree %s\\nparent %s\\n' $(git write-tree) $(git rev-parse HEAD); cat ../who; } > ../commit
            git update-ref HEAD $(git hash-object --literally -t commit -w ../commit)`,
  });
  expect(run.output).toBe(`${GUEST_EXPORTS}\n`);
  expect(importAsHost(stage, run).manifest.patches[0]?.author).toEqual({ name, email, date });
});

test("without a usable last-commit-message.txt the leftovers get a message that names the run", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `printf 'Caf\\351' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"; echo x > x`,
  });
  expect(run.code).toBe(71);
  expect(run.output).toContain(
    "guardloop guest: last-commit-message.txt is not a file of UTF-8 text",
  );
  expect(importAsHost(stage, run).manifest.patches[0]?.message).toBe(
    "Work of guardloop run 261129-164712-k3f9q\n",
  );
});

test("a message file with a byte order mark and carriage returns is tidied", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, {
    agent: `printf '\\357\\273\\277Fix\\r\\n\\r\\nBody\\r\\n\\r\\n' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"; echo x > x`,
  });
  expect(importAsHost(stage, run).manifest.patches[0]?.message).toBe("Fix\n\nBody\n");
});
