import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ending, fullCircle, headOf, readyRun, succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld } from "../rig/world.ts";

describe("the user's own set-up", () => {
  const HOOKS = [
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change",
    "post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit",
    "pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction",
    "sendemail-validate update",
  ].flatMap((line) => line.split(" "));

  function plantHooks(directory: string, marks: string): void {
    mkdirSync(directory, { recursive: true });
    mkdirSync(marks, { recursive: true });
    for (const name of HOOKS) {
      writeFileSync(join(directory, name), `#!/bin/sh\ntouch '${marks}/${name}'\nexit 1\n`);
      chmodSync(join(directory, name), 0o755);
    }
  }

  test.each([
    "in .git/hooks",
    "through core.hooksPath, as husky does",
    "in the user's own configuration",
  ])("hooks never run: %s", async (place) => {
    using world = makeWorld();
    const marks = join(world.root, "marks");
    if (place === "in .git/hooks") plantHooks(join(world.repo, ".git/hooks"), marks);
    else {
      plantHooks(join(world.repo, ".husky/_"), marks);
      world.commit("Husky");
      const file = place.startsWith("through") ? ".git/config" : "../home/.gitconfig";
      world.git("config", "--file", file, "core.hooksPath", ".husky/_");
      world.git("config", "--file", file, "core.fsmonitor", ".husky/_/fsmonitor-watchman");
    }
    rmSync(marks, { recursive: true });
    mkdirSync(marks);
    // Landed and taken back in every way; and a discard and a restore.
    const digest = () => readdirSync(marks);
    const ran = await world.run(GOOD_AGENT);
    expect(ending(ran)).toBe("exit 0");
    for (const words of ["review @last", "promote @last", "rollback @last", "restore @last"])
      await succeed(world, words.split(" "));
    for (const words of ["discard @last", "restore @last", "promote @last"])
      await succeed(world, words.split(" "));
    world.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "Later");
    rmSync(marks, { recursive: true });
    mkdirSync(marks);
    await succeed(world, ["rollback", "@last", "--revert"]);
    await succeed(world, ["restore", "@last"]);
    for (const flag of ["--rebase", "--squash"]) {
      await succeed(world, ["promote", "@last", flag]);
      await succeed(world, ["rollback", "@last"]);
      await succeed(world, ["restore", "@last"]);
    }
    await succeed(world, ["doctor"]);
    expect(digest()).toEqual([]);
    // The hooks are real: Git runs them when the user calls it.
    expect(() => world.git("commit", "-q", "--allow-empty", "-m", "By hand")).toThrow(/./);
    expect(digest()).toContain("pre-commit");
  });

  test("settings that make Git behave otherwise break nothing", async () => {
    using world = makeWorld();
    const settings = {
      "core.autocrlf": "true",
      "core.quotePath": "false",
      "core.abbrev": "4",
      "core.editor": "false",
      "core.pager": "false",
      "core.commentChar": "D",
      "commit.gpgSign": "true",
      "tag.gpgSign": "true",
      "gpg.program": "/bin/false",
      "log.showSignature": "true",
      "log.follow": "true",
      "log.mailmap": "false",
      "merge.ff": "false",
      "merge.verifySignatures": "true",
      "merge.autoStash": "true",
      "merge.renames": "false",
      "rerere.enabled": "true",
      "diff.noprefix": "true",
      "diff.mnemonicPrefix": "true",
      "diff.renames": "copies",
      "diff.external": "/bin/false",
      "diff.wsErrorHighlight": "all",
      "color.ui": "always",
      "status.branch": "true",
      "status.short": "true",
      "status.relativePaths": "true",
      "status.showUntrackedFiles": "all",
      "apply.whitespace": "error",
      "core.whitespace": "tab-in-indent",
      "format.pretty": "oneline",
      "i18n.logOutputEncoding": "ISO-8859-1",
      "user.useConfigOnly": "true",
      "column.ui": "always",
      "branch.autoSetupMerge": "always",
      "push.default": "nothing",
      "extensions.worktreeConfig": "true",
    };
    for (const [key, value] of Object.entries(settings))
      world.git("config", "--file", join(world.root, "home/.gitconfig"), key, value);
    await fullCircle(world);
    await succeed(world, ["restore", "@last"]);
    await succeed(world, ["promote", "@last"]);
    world.git("-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "Later");
    await succeed(world, ["rollback", "@last", "--revert"]);
    expect(existsSync(join(world.repo, "T1.txt"))).toBe(false);
    await succeed(world, ["restore", "@last"]);
    const dry = await succeed(world, ["promote", "@last", "--rebase", "--dry-run"]);
    expect(dry.stdout).toContain("The patches are unchanged");
    await succeed(world, ["promote", "@last", "--rebase"]);
    expect(existsSync(join(world.repo, "T1.txt"))).toBe(true);
  });

  test("merge options of the branch do not bend a promotion", async () => {
    using world = makeWorld();
    const run = await readyRun(world);
    for (const options of [
      "--no-ff",
      "--squash",
      "--no-commit",
      "--verify-signatures",
      "-s ours",
    ]) {
      world.git("config", "branch.main.mergeOptions", options);
      await succeed(world, ["promote", run.id]);
      expect([options, headOf(world)]).toEqual([options, run.head]);
      await succeed(world, ["rollback", run.id]);
      await succeed(world, ["restore", run.id]);
    }
  });

  test("nor do those of a branch whose name has an equals sign", async () => {
    using world = makeWorld();
    world.git("checkout", "-q", "-b", "a=b");
    const run = await readyRun(world);
    world.git("config", "branch.a=b.mergeOptions", "--no-ff");
    await succeed(world, ["promote", run.id]);
    expect(headOf(world)).toBe(run.head);
  });

  test("line endings as the user wants them arrive in the checkout", async () => {
    using world = makeWorld();
    world.write(".gitattributes", "* text=auto\n");
    world.commit("Text");
    world.git("config", "core.autocrlf", "true");
    await readyRun(world);
    await succeed(world, ["promote", "@last"]);
    expect(readFileSync(join(world.repo, "T1.txt"), "utf8")).toBe("work on T1\r\n");
    expect(world.git("cat-file", "-p", "HEAD:T1.txt")).toBe("work on T1");
    expect(world.git("status", "--porcelain")).toBe("");
  });
});
