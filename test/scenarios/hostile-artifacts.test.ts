import { describe, expect, test } from "vitest";
import { afterGuest, afterGuestNode, expectRefused, writeSecret } from "../rig/hostile.ts";
import { FINISH, GOOD_AGENT, checkoutDigest, leftovers, makeWorld, runsOf } from "../rig/world.ts";

// Whole runs; every single thing that is refused is in test/run/outbox.test.ts.

const FIRST_PATCH = 'patches/"$first"';

describe("something else in the place of an artifact", () => {
  test.each([
    ["selected-task-id.txt", "bad-task-id", 'ln -s "$SECRET" "$1"', "is not a regular file"],
    ["last-commit-message.txt", "bad-commit-message", 'ln -s "$SECRET" "$1"', "is not a reg"],
    ["manifest.json", "bad-manifest", 'ln -s "$SECRET" "$1"', "is not a regular file"],
    [FIRST_PATCH, "bad-patches", 'ln -s "$SECRET" "$1"', "is not a regular file"],
    ["selected-task-id.txt", "bad-task-id", 'mkfifo "$1"', "is not a regular file"],
    [FIRST_PATCH, "bad-patches", 'mkfifo "$1"', "is not a regular file"],
    [
      "last-commit-message.txt",
      "bad-commit-message",
      'ln "$SECRET" "$1"',
      "has more than one hard",
    ],
    ["manifest.json", "bad-manifest", 'truncate -s 1T "$1"', "is larger than \\d+ bytes"],
  ])("%s: %s after `%s`", async (artifact, code, make, says) => {
    using world = makeWorld();
    const secret = writeSecret(world);
    const before = checkoutDigest(world);
    afterGuest(world, `SECRET='${secret}'\nset -- ${artifact}\nrm "$1"\n${make}`);
    const ended = await world.run(GOOD_AGENT);
    const shown = artifact === FIRST_PATCH ? "patches/0001-\\S+" : artifact;
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code, says: `^The artifact ${shown} ${says}` });
  });

  test("a link to a directory of the user's in the place of patches is not entered", async () => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    afterGuest(world, `mv patches '${world.root}/real' && ln -s '${world.root}/real' patches`);
    const ended = await world.run(GOOD_AGENT);
    const says = "^The artifact patches is not a directory\\.$";
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "bad-patches", says });
  });

  test("links that the agent itself made are followed by nobody, and its work is salvaged", async () => {
    using world = makeWorld();
    const secret = writeSecret(world);
    const before = checkoutDigest(world);
    const ended = await world.run(`
      echo work > one.txt
      ln -s '${secret}' "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"
      ln -s '${secret}' "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"
      ln -s '${world.root}' "$GUARDLOOP_ARTIFACTS/patches"
      ln -s '${secret}' "$GUARDLOOP_ARTIFACTS/manifest.json"`);
    const says = "selected-task-id.txt is not a regular file";
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "bad-task-id", says });
    expect(ended.stderr).toContain("salvaged: 1 patch is kept");
  });

  test("what else lies in the artifacts directory is not looked at", async () => {
    using world = makeWorld();
    const secret = writeSecret(world);
    afterGuest(world, `mkfifo pipe; ln -s '${secret}' link; mkdir -p deep/er; truncate -s 1T huge`);
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    expect(leftovers(world)).toEqual([]);
  });
});

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const STEERING = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E]/;

describe("hostile words", () => {
  test.each([
    [
      "an escape sequence in a patch's name",
      'mv patches/"$first" "patches/$(printf "0001-\\033[31m.patch")"',
    ],
    ["a name that is not UTF-8", 'mv patches/"$first" "patches/$(printf "0001-\\377.patch")"'],
    ["a gap in the numbers", 'mv patches/"$first" patches/0002-x.patch'],
  ])("%s: refused, and said without steering the terminal", async (_, script) => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    afterGuest(world, script);
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "bad-patches", says: "patches" });
    expect(ended.stderr).not.toMatch(STEERING);
  });

  test.each([
    ["a path", "../../T1"],
    ["two lines", "T1\\nT2"],
    ["an escape sequence", "T1\\033[2J"],
  ])("%s as task id: refused, and said without steering the terminal", async (_, id) => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    const ended = await world.run(
      `${FINISH} echo x > x.txt\nprintf '${id}' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"`,
    );
    const says = "selected-task-id.txt says .*; offered were T1, T2\\.$";
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "bad-task-id", says });
    expect(ended.stderr).not.toMatch(STEERING);
  });

  test("a byte order mark and a Windows line end do not get into the branch's name", async () => {
    using world = makeWorld();
    const ended = await world.run(
      `${GOOD_AGENT}\nprintf '\\357\\273\\277T1\\r\\n' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"`,
    );
    expect(ended.code).toBe(0);
    const [run] = await runsOf(world);
    expect(run).toMatchObject({ task: "T1", branch: `agent/T1-${run?.id}` });
  });

  test("a NUL in the commit message is refused", async () => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    const ended = await world.run(
      `${GOOD_AGENT}\nprintf 'Do\\000 T1' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`,
    );
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "bad-commit-message", says: "a NUL byte" });
  });

  test("escape sequences and bidi controls in it are made visible in the commit", async () => {
    using world = makeWorld();
    const ended = await world.run(
      `${GOOD_AGENT}\nprintf 'Do \\033]0;x\\007T1 \\342\\200\\256gnp\\n' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`,
    );
    expect(ended.code).toBe(0);
    const [run] = await runsOf(world);
    expect(world.git("log", "-1", "--format=%s", run?.branch ?? "")).toBe(
      "Do <U+001B>]0;x<U+0007>T1 <U+202E>gnp",
    );
  });
});

describe("a manifest", () => {
  test.each([
    ["that is not JSON", 'write("manifest.json", "<html>");', "is not JSON"],
    ["that is gone", 'fs.rmSync("manifest.json");', "is missing"],
    ["nested deep", 'write("manifest.json", "[".repeat(2e6) + "]".repeat(2e6));', "json is not"],
    ["about another base", 'manifest.base = "1".repeat(40); save();', "another base commit"],
    ["that forgets a patch", "manifest.patches.pop(); save();", "does not list the patches"],
  ])("%s: refused", async (_, script, says) => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    afterGuestNode(world, script);
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "bad-manifest", says });
  });

  test("with an author that is an option and an escape sequence gives an author that is text", async () => {
    using world = makeWorld();
    afterGuestNode(
      world,
      String.raw`manifest.patches[0].author = { name: "--exec=x <a@b>\u001b[2J", email: "", date: "99999999999999 +9999" }; save();`,
    );
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    const [run] = await runsOf(world);
    expect(world.git("log", "-1", "--format=%an|%ae", run?.branch ?? "")).toBe(
      "--exec=x a@bU+001B[2J|agent@guardloop.invalid",
    );
  });
});
