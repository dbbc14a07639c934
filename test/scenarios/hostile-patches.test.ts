import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { afterGuestNode, expectRefused, writeSecret } from "../rig/hostile.ts";
import { GOOD_AGENT, checkoutDigest, leftovers, makeWorld, runsOf } from "../rig/world.ts";

// Whole runs; every single mail is in test/run/hostile-mails.test.ts.

/** Two commits of the agent's own, so that there are two patches. */
const TWO_COMMITS = `
${GOOD_AGENT}
git add -A && git commit -q -m "First half"
echo more >> T1.txt && git commit -q -a -m "Second half"
`;

describe("patches of a container that lies", () => {
  test.each([
    [
      "two mails in one file",
      'write(first, read(first) + mail(adds("second.txt")));',
      "bad-patches",
      "^patches/0001-\\S+ does not hold exactly one mail",
    ],
    [
      "a body in base64",
      'write(first, mail("", "Content-Transfer-Encoding:\\n base64\\n", Buffer.from(adds("x")).toString("base64")));',
      "bad-patches",
      "^patches/0001-\\S+ has an encoded body",
    ],
    [
      "a StGit series that names files of the host",
      'write(first, "# This series applies on GIT commit 1\\n../../../../secret.txt\\n");',
      "bad-patches",
      "^patches/0001-\\S+ does not begin like a mail",
    ],
    [
      "a binary that would inflate to 100 GB",
      'write(first, read(first) + "\\nGIT binary patch\\nliteral 99999999999\\nzcmd\\n");',
      "bad-patches",
      "^patches/0001-\\S+ declares 99999999999 bytes",
    ],
    [
      "more paths than a patch may touch",
      'write(first, mail(Array.from({ length: 50001 }, (_, index) => adds("f" + index)).join("")));',
      "bad-patches",
      "^patches/0001-\\S+ touches 50001 paths; the limit is 50000",
    ],
    [
      "a line that is longer than a patch's may be",
      'write(first, read(first) + "+" + "x".repeat(32 * 1024 * 1024) + "\\n");',
      "bad-patches",
      "^patches/0001-\\S+ has a line of 33554433 bytes; the limit is 33554432",
    ],
    [
      "binaries that are each within the limit and not together",
      `manifest.patches = [1, 2, 3].map((number) => {
         const file = "000" + number + "-x.patch";
         write("patches/" + file, mail("GIT binary patch\\nliteral 400000000\\nzcmd\\n"));
         return { ...manifest.patches[0], file };
       });
       fs.rmSync(first); save();`,
      "bad-patches",
      "^The 3 patches declare 1200000000 bytes of binary content together; the limit is 1073741824",
    ],
    [
      "a name with a line feed",
      'forge([["100644", "a\\nb", "x\\n"]]);',
      "import-refused",
      '^"a\\\\nb" is a new name with a control character',
    ],
    [
      "a .gitmodules that would start a program",
      'forge([["100644", ".gitmodules", "[submodule \\"x\\"]\\n\\tpath = x\\n\\turl = ext::sh\\n"]]);',
      "import-refused",
      '^".gitmodules" gives a submodule the URL "ext::sh"',
    ],
    [
      "a hook in .git",
      'write(first, mail(adds(".git/hooks/post-checkout", "100755")));',
      "import-refused",
      "^patches/0001-\\S+ does not apply: .*hooks/post-checkout",
    ],
    [
      "a path out of the tree",
      'write(first, mail(adds("../../../../evil")));',
      "import-refused",
      "^patches/0001-\\S+ does not apply: .*evil",
    ],
    [
      "a tree that it does not give",
      'manifest.patches[0].tree = "1".repeat(40); save();',
      "import-mismatch",
      "gives the tree [0-9a-f]{40}, but the agent had 1{40}",
    ],
    [
      "a last tree that it does not give",
      'manifest.finalTree = "1".repeat(40); save();',
      "import-mismatch",
      "^The last tree is [0-9a-f]{40}, but the agent had 1{40}",
    ],
    [
      "a link to a repository",
      'forge([["160000", "lib", ""]]);',
      "import-refused",
      '"lib" is a gitlink',
    ],
    [
      "a bare repository between the files",
      'forge(["HEAD", "config", "objects/.keep", "refs/.keep"].map((name) => ["100644", "docs/x/" + name, "x\\n"]));',
      "import-refused",
      '"docs/x/" looks like a bare repository',
    ],
    [
      "its own .gitmodules that is a link",
      'write(first, mail(adds(".gitmodules", "120000")));',
      "import-refused",
      "^patches/0001-\\S+ does not apply: .*gitmodules",
    ],
    [
      "a .gitmodules that names a program",
      'forge([["100644", ".gitmodules", "[submodule \\"x\\"]\\n\\tupdate = !touch x\\n"]]);',
      "import-refused",
      "gitmodulesUpdate: disallowed|a command of its own",
    ],
  ])("%s: refused", async (_, script, code, says) => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    afterGuestNode(world, script);
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code, says });
    expect(existsSync(join(world.root, "evil"))).toBe(false);
  });

  test("in another order: refused", async () => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    afterGuestNode(
      world,
      `const [a, b] = fs.readdirSync("patches").sort().map((name) => "patches/" + name);
       const text = read(a); write(a, read(b)); write(b, text);`,
    );
    const ended = await world.run(TWO_COMMITS);
    const says = "^patches/0001-\\S+ does not apply";
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "import-refused", says });
  });

  test("a consistent lie is imported as what it is, and what is dangerous in it blocks the promotion", async () => {
    using world = makeWorld();
    afterGuestNode(
      world,
      'forge([["120000", "notes.txt", "/etc/passwd"], ["100755", ".github/workflows/ci.yml", "on: push\\n"]]);',
    );
    const ended = await world.run(GOOD_AGENT);
    expect(ended.code).toBe(0);
    const before = checkoutDigest(world);
    const review = await world.guardloop(["review", "@last", "--json"]);
    const codes = JSON.parse(review.stdout).findings.map((one: { code: string }) => one.code);
    expect(codes).toEqual(expect.arrayContaining(["symlink-escaping", "protected-ci"]));
    expect((await world.guardloop(["promote", "@last"])).code).toBe(3);
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
    expect((await runsOf(world))[0]?.state).toBe("ready");
  });

  test("the agent's own way into a bare repository is closed too", async () => {
    using world = makeWorld();
    writeSecret(world);
    const before = checkoutDigest(world);
    const ended = await world.run(`${GOOD_AGENT}
      mkdir -p docs/x/objects docs/x/refs
      for name in HEAD config objects/.keep refs/.keep; do echo x > docs/x/$name; done`);
    const says = '"docs/x/" looks like a bare repository';
    expect(ended.code).toBe(4);
    await expectRefused(world, { before, code: "import-refused", says });
  });
});
