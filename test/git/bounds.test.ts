import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { withinBounds } from "../../src/process/bounds.ts";
import type { Bounds } from "../../src/process/command.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { run } from "../../src/process/spawn.ts";
import { GIT_BOUNDS } from "../../src/core/limits.ts";
import { applyMail, makeQuarantine, startAt } from "../../src/git/quarantine.ts";
import { measureMail } from "../../src/run/artifacts/mail-sizes.ts";
import { type SampleRepository, sampleRepository } from "../lease/sample-repository.ts";
import { addsBinary, mailWith, repeatsContent } from "../rig/binary-patch.ts";

const MIB = 1024 * 1024;
const AMPLE: Bounds = { addressSpaceBytes: 1024 * MIB, fileBytes: 1024 * MIB, cpuSeconds: 60 };

/** A shell's own word on the limits it runs under: address space in KiB, files in blocks, seconds soft and hard. */
async function limitsIn(bounds?: Bounds): Promise<string> {
  const ended = await run({
    argv: ["/bin/sh", "-c", "ulimit -v; ulimit -f; ulimit -St; ulimit -Ht"],
    cwd: "/",
    env: {},
    deadlineMs: 60_000,
    ...(bounds === undefined ? {} : { bounds }),
  });
  if (!ended.ok) throw new Error(ended.error.reason);
  return ended.value.stdout.toString("utf8").trim().replaceAll("\n", " ");
}

describe("a child within bounds", () => {
  test("runs under exactly those limits, and one without runs as before", async () => {
    const bounds = { addressSpaceBytes: 512 * MIB, fileBytes: 8 * MIB, cpuSeconds: 30 };
    expect(await limitsIn(bounds)).toBe("524288 16384 30 35");
    expect(await limitsIn()).not.toContain("524288");
  });

  test("gets its arguments, environment and input as they are, whatever is in them", async () => {
    const words = ["$(touch /tmp/x)", "a b", "'", '"', "", "-c", "\n", "*"];
    const ended = await run({
      argv: [
        process.execPath,
        "-e",
        "process.stdin.on('data', (text) => console.log(JSON.stringify([process.argv.slice(1), process.env.A, String(text)])))",
        "--",
        ...words,
      ],
      cwd: "/",
      env: { A: "$B `c`" },
      stdin: "in",
      deadlineMs: 60_000,
      bounds: { ...AMPLE, addressSpaceBytes: 64 * 1024 * MIB },
    });
    expect(ended.ok && ended.value.stderr.toString("utf8")).toBe("");
    expect(ended.ok && JSON.parse(ended.value.stdout.toString("utf8"))).toEqual([
      words,
      "$B `c`",
      "in",
    ]);
  });

  test("is started by a constant script: nothing but positional parameters differs", () => {
    const one = withinBounds(["/bin/a"], AMPLE);
    const other = withinBounds(["/bin/b", "; rm -rf /"], { ...AMPLE, cpuSeconds: 1 });
    expect(one.slice(0, 4)).toEqual(other.slice(0, 4));
    expect(other.slice(-2)).toEqual(["/bin/b", "; rm -rf /"]);
  });
});

/** A mail that adds a file of zeros: some kilobytes that become many megabytes. */
function bomb(megabytes: number): Buffer {
  return Buffer.from(mailWith(addsBinary("big.bin", Buffer.alloc(megabytes * MIB))));
}

async function applyWithin(
  repository: SampleRepository,
  mail: Buffer,
  bounds: Bounds,
): Promise<string> {
  const quarantine = await makeQuarantine({
    program: findProgram("git", repository.env.path) ?? "git",
    env: repository.env,
    dir: join(repository.home, "quarantine.git"),
    objectsDir: join(repository.commonDir, "objects"),
    bounds,
  });
  await startAt(quarantine, repository.head());
  const tree = await applyMail(quarantine, mail, "0001-x.patch");
  return tree.ok ? "applied" : `${tree.error.code}: ${tree.error.message}`;
}

describe("a patch of some hundred kilobytes that becomes 96 MiB", () => {
  const mail = bomb(96);

  test("is small, and applies within the bounds of an import", async () => {
    expect(mail.length).toBeLessThan(200_000);
    expect(await applyWithin(sampleRepository(), mail, GIT_BOUNDS)).toBe("applied");
  });

  test("that wants more memory than it may have: refused, in a sentence of its own", async () => {
    const bounds = { ...AMPLE, addressSpaceBytes: 80 * MIB };
    expect(await applyWithin(sampleRepository(), mail, bounds)).toBe(
      "import-refused: Applying patches/0001-x.patch needed more than 80 MiB of memory.",
    );
  });

  test("that wants to write a larger file than it may: refused, in a sentence of its own", async () => {
    const bounds = { ...AMPLE, fileBytes: 64 * 1024 };
    expect(await applyWithin(sampleRepository(), mail, bounds)).toBe(
      "import-refused: Applying patches/0001-x.patch needed more than 64 KiB for one file.",
    );
  });

  test("that wants more processor time than it may have: refused, in a sentence of its own", async () => {
    const bounds = { ...AMPLE, cpuSeconds: 1, addressSpaceBytes: 4096 * MIB };
    expect(await applyWithin(sampleRepository(), bomb(400), bounds)).toBe(
      "import-refused: Applying patches/0001-x.patch needed more than 1 seconds of processor time.",
    );
  });
});

test("a delta of a kilobyte that becomes 5 GB, which it declares nowhere: refused by the bounds of an import", async () => {
  const repository = sampleRepository();
  const content = Buffer.alloc(16 * MIB - 1);
  writeFileSync(join(repository.topLevel, "zeros.bin"), content);
  repository.commit("Zeros");
  const mail = mailWith(repeatsContent("zeros.bin", content, 320));
  expect(mail.length).toBeLessThan(1000);
  expect(measureMail(Buffer.from(mail)).declaredBinaryBytes).toBeLessThan(2000);
  expect(await applyWithin(repository, Buffer.from(mail), GIT_BOUNDS)).toBe(
    "import-refused: Applying patches/0001-x.patch needed more than 4 GiB of memory.",
  );
});

test("the user's packs may be larger than the address space: they are mapped in small windows", async () => {
  const repository = sampleRepository();
  writeFileSync(join(repository.topLevel, "large.bin"), Buffer.alloc(200 * MIB));
  repository.run(["config", "core.compression", "0"]);
  repository.commit("Something large");
  repository.run(["repack", "-adq"]);
  const mail = Buffer.from(
    mailWith("--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-two\n+three\n"),
  );
  const bounds = { ...AMPLE, addressSpaceBytes: 160 * MIB };
  expect(await applyWithin(repository, mail, bounds)).toBe("applied");
});
