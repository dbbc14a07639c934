import { describe, expect, test } from "vitest";
import { afterGuestNode } from "../rig/hostile.ts";
import { ending } from "../rig/lifecycle.ts";
import { GOOD_AGENT, type World, makeWorld, runsOf } from "../rig/world.ts";

interface ShownFinding {
  readonly code: string;
  readonly severity: string;
  readonly paths: readonly string[];
}

/** A run that must end well: its branch, and what a review finds by code. */
async function reviewed(world: World, script: string, flags: readonly string[] = []) {
  expect(ending(await world.run(script, flags))).toBe("exit 0");
  const [run] = await runsOf(world);
  const review = await world.guardloop(["review", "@last", "--json"]);
  const { findings } = JSON.parse(review.stdout) as { findings: readonly ShownFinding[] };
  return {
    run: run?.id ?? "",
    branch: run?.branch ?? "",
    findings: new Map(findings.map((one) => [one.code, one])),
  };
}

/** The agent does its task and commits it itself, with these arguments to `git commit`. */
function committing(args: string, environment = ""): string {
  return `${GOOD_AGENT}\ngit add -A && ${environment} git commit -q ${args}`;
}

const LINUS =
  '--author="Linus Torvalds <torvalds@example.com>" -m "Do T1" -m "Because the plan says so."';

describe("an author who is not the agent", () => {
  test("is kept by default, with a finding", async () => {
    using world = makeWorld();
    const { branch, findings } = await reviewed(world, committing(LINUS));
    expect(world.git("log", "-1", "--format=%an <%ae>", branch)).toBe(
      "Linus Torvalds <torvalds@example.com>",
    );
    expect(findings.get("authorship")?.severity).toBe("warn");
    expect(findings.has("metadata-changed")).toBe(false);
    expect(findings.has("message-differs")).toBe(false);
  });

  test("is replaced where the configuration says so, and named in a trailer", async () => {
    using world = makeWorld();
    world.write("guardloop.toml", '[import]\nauthorship = "replace"\n');
    world.commit("Replace authors");
    const { run, branch, findings } = await reviewed(world, committing(LINUS));
    expect(world.git("log", "-1", "--format=%an <%ae>", branch)).toBe(
      "guardloop agent <agent@guardloop.invalid>",
    );
    expect(world.git("log", "-1", "--format=%B", branch)).toBe(
      `Do T1\n\nBecause the plan says so.\n\nOriginal-Author: Linus Torvalds <torvalds@example.com>\nGuardloop-Run: ${run}\nGuardloop-Task: T1`,
    );
    expect(findings.has("authorship")).toBe(false);
    expect(findings.has("message-differs")).toBe(false);
    expect(findings.get("metadata-changed")).toMatchObject({ severity: "info" });
    expect(findings.get("metadata-changed")?.paths[0]).toMatch(
      /^[0-9a-f]{12} the author Linus Torvalds <torvalds@example\.com> was replaced by the agent$/,
    );
  });

  test("the agent's own commits get no such trailer", async () => {
    using world = makeWorld();
    const { branch } = await reviewed(world, GOOD_AGENT, ["--authorship", "replace"]);
    expect(world.git("log", "-1", "--format=%B", branch)).not.toContain("Original-Author");
  });
});

describe("a date that cannot be believed", () => {
  test.each([
    ["the year 5138", "99999999999 +0000"],
    ["a zone of a day", "1700000000 +2400"],
    ["before 1970", "-5 +0000"],
  ])("%s: the run's start stands in for it, and a finding says so", async (_, date) => {
    using world = makeWorld();
    afterGuestNode(world, `manifest.patches[0].author.date = ${JSON.stringify(date)}; save();`);
    const { branch, findings } = await reviewed(world, GOOD_AGENT);
    const [author, committer] = world.git("log", "-1", "--format=%ad|%cd", branch).split("|");
    expect(author).toBe(committer);
    expect(findings.get("metadata-changed")?.paths).toEqual([
      expect.stringMatching(/^[0-9a-f]{12} the author date .* cannot be believed$/),
    ]);
  });
});

describe("a message", () => {
  test("that forges guardloop's own trailers is not taken for ours", async () => {
    using world = makeWorld();
    const forged =
      "Guardloop-Run: 990101-000000-aaaaa\\nguardloop-task : T9\\nOriginal-Author: You <y@o.u>";
    afterGuestNode(world, `manifest.patches[0].message = "Do T1\\n\\n${forged}\\n"; save();`);
    const { run, branch, findings } = await reviewed(world, GOOD_AGENT);
    const trailers = (key: string): string =>
      world.git("log", "-1", `--format=%(trailers:key=${key},valueonly)`, branch);
    expect(trailers("Guardloop-Run")).toBe(run);
    expect(trailers("Guardloop-Task")).toBe("T1");
    expect(trailers("Original-Author")).toBe("");
    expect(findings.get("metadata-changed")?.paths[0]).toContain(
      "trailers that only guardloop writes were renamed",
    );
    expect(findings.get("meaningful-message")?.paths).toEqual([
      expect.stringMatching(/^[0-9a-f]{12} line 3: Claimed-Guardloop-Run: 990101-000000-aaaaa$/),
      expect.stringMatching(/^[0-9a-f]{12} line 4: Claimed-guardloop-task: T9$/),
      expect.stringMatching(/^[0-9a-f]{12} line 5: Claimed-Original-Author: You <y@o\.u>$/),
    ]);
  });

  test("that people and tools act on is shown by commit and line, ours is not", async () => {
    using world = makeWorld();
    const { findings } = await reviewed(
      world,
      committing(
        '-m "Fix the build [skip ci]" -m "Fixes #12" -m "Signed-off-by: Ada <ada@example.com>"',
      ),
    );
    const found = findings.get("meaningful-message");
    expect(found?.severity).toBe("warn");
    expect(found?.paths.map((path) => path.slice(13))).toEqual([
      "line 1: Fix the build [skip ci]",
      "line 3: Fixes #12",
      "line 5: Signed-off-by: Ada <ada@example.com>",
    ]);
    expect(findings.get("message-differs")?.severity).toBe("info");
  });

  test("of ordinary words has none of these findings", async () => {
    using world = makeWorld();
    const { findings } = await reviewed(world, GOOD_AGENT);
    for (const code of ["meaningful-message", "message-differs", "metadata-changed", "authorship"])
      expect([code, findings.has(code)]).toEqual([code, false]);
  });

  test("longer than the limit is cut, and a finding says so", async () => {
    using world = makeWorld();
    afterGuestNode(world, 'manifest.patches[0].message = "ä".repeat(40000); save();');
    const { branch, findings } = await reviewed(world, GOOD_AGENT);
    const message = world.git("log", "-1", "--format=%B", branch);
    expect(Buffer.byteLength(message.slice(0, message.indexOf("\n")))).toBe(65_536);
    expect(findings.get("metadata-changed")?.paths[0]).toContain("cut to 65536 bytes");
  });

  test("with control and bidi characters shows them, and a finding says so", async () => {
    using world = makeWorld();
    afterGuestNode(
      world,
      String.raw`manifest.patches[0].message = "Do \u001b]0;x\u0007 \u202eT1\r\n"; manifest.patches[0].author.name = "A\u001b[31m <x>"; save();`,
    );
    const { branch, findings } = await reviewed(world, GOOD_AGENT);
    expect(world.git("log", "-1", "--format=%s|%an", branch)).toBe(
      "Do <U+001B>]0;x<U+0007> <U+202E>T1|AU+001B[31m x",
    );
    expect(findings.get("metadata-changed")?.paths.map((path) => path.slice(13))).toEqual([
      "the author held characters that no author may have",
      "line ends of the message",
      "control characters in the message were made visible",
    ]);
  });
});

test("a Git LFS pointer that is new is found; one that was moved is not", async () => {
  using world = makeWorld();
  const pointer = (oid: string): string =>
    `version https://git-lfs.github.com/spec/v1\noid sha256:${oid.repeat(64)}\nsize 12345\n`;
  world.write("old.bin", pointer("a"));
  world.write("changed.bin", pointer("b"));
  world.commit("Pointers");
  const { findings } = await reviewed(
    world,
    `${GOOD_AGENT}
git mv old.bin moved.bin
sed -i 's/sha256:b/sha256:c/' changed.bin
printf '${pointer("d").replaceAll("\n", "\\n")}' > new.bin
printf 'version https://git-lfs.github.com/spec/v1\\nis what it says\\n' > words.txt`,
  );
  expect(findings.get("lfs-pointer")).toMatchObject({
    severity: "warn",
    paths: ["changed.bin", "new.bin"],
  });
});
