import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { FAILURES } from "../../src/core/failures.ts";
import { git, makeStage, runGuest } from "../guest/rig.ts";
import { receive } from "../rig/host-stages.ts";
import { NO_SECOND_TRY, fuzzRuns } from "../rig/property.ts";

// A good export, and what becomes of it when its mails are no longer what the guest wrote.

const AGENT = String.raw`
echo four >> src/a.txt; echo new > new.txt; git add -A; git commit -qm 'First'
printf '\0\1\2binary' > bin; head -c 2000 /dev/zero > zeros; ln -s src link; git add -A; git commit -qm 'Second'
git mv new.txt moved.txt; chmod +x src/a.txt; printf 'cr\r\n' >> src/a.txt; git commit -qam 'Third'
printf '\3' >> bin; rm link; git commit -qam 'Fourth — with an em dash'
`;

interface Export {
  readonly directory: string;
  readonly user: string;
  readonly base: string;
  readonly texts: Readonly<Record<string, Buffer>>;
  readonly patches: readonly (readonly [name: string, mail: Buffer])[];
  readonly trees: readonly string[];
}

let exported: Export;

beforeAll(async () => {
  const stage = makeStage();
  const { manifest } = await runGuest(stage, { agent: AGENT });
  const read = (name: string): Buffer => readFileSync(join(stage.artifacts, name));
  const names = ["selected-task-id.txt", "last-commit-message.txt", "manifest.json"];
  exported = {
    directory: stage.directory,
    user: stage.user,
    base: stage.base,
    texts: Object.fromEntries(names.map((name) => [name, read(name)])),
    patches: readdirSync(join(stage.artifacts, "patches"))
      .toSorted()
      .map((name) => [name, read(`patches/${name}`)]),
    trees: manifest?.patches.map((patch) => patch.tree) ?? [],
  };
});

/** Lines that mean something to the programs that read a mail. */
const LINES = [
  "From 1 Mon Sep 17 00:00:00 2001",
  "Content-Transfer-Encoding: base64",
  "---",
  "-- ",
  "\r",
  "",

  "Content-Type: multipart/mixed; boundary=x",
  "Subject: =?UTF-8?q?=1b?=",
  "-- >8 --",
  "\0",
  " ",
  "diff --git a/x b/x",
  "diff --git a/../x b/../x",
  "GIT binary patch",
  "literal 4",
  "delta 9",

  "literal 9999999999",
  "new file mode 100644",
  "new file mode 160000",
  "rename from README.md",

  "rename to .git/config",
  "+++ b/.git/hooks/x",
  "--- /dev/null",
  "@@ -1 +1 @@",
  "@@ -0,0 +1,9 @@",

  "deleted file mode 100644",
  "old mode 100644",
  "new mode 120000",
  "index 0000000..1111111",
  "+x",

  "\\ No newline at end of file",
  "copy from README.md",
  "copy to evil",
  "similarity index 100%",
];
const at = fc.nat(10_000);
const change = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant("drop" as const), at, lines: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant("duplicate" as const), at, lines: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant("swap" as const), at }),
  fc.record({ kind: fc.constant("insert" as const), at, line: fc.constantFrom(...LINES) }),
  fc.record({ kind: fc.constant("header" as const), line: fc.constantFrom(...LINES) }),
  fc.record({
    kind: fc.constant("resize" as const),
    at,
    to: fc.constantFrom("0", "1", "77", "4294967296"),
  }),
  fc.record({ kind: fc.constant("splice" as const), at, from: fc.nat(3), lines: fc.nat(30) }),
  fc.record({ kind: fc.constant("cut" as const), at }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function mutate(mail: Buffer, step: Change): Buffer {
  switch (step.kind) {
    case "flip": {
      const copy = Buffer.from(mail);
      const index = step.at % Math.max(1, copy.length);
      copy[index] = (copy[index] ?? 0) ^ (1 << step.bit);
      return copy;
    }
    case "resize": {
      const text = mail.toString("latin1");
      const numbers = [...text.matchAll(/\d+/g)];
      const number = numbers[step.at % Math.max(1, numbers.length)];
      if (number === undefined) return mail;
      const { index } = number;
      const resized = text.slice(0, index) + step.to + text.slice(index + number[0].length);
      return Buffer.from(resized, "latin1");
    }
    default:
      return Buffer.from(withOtherLines(mail.toString("latin1").split("\n"), step), "latin1");
  }
}

function withOtherLines(
  lines: string[],
  step: Exclude<Change, { kind: "flip" | "resize" }>,
): string {
  const place = "at" in step ? step.at % lines.length : 0;
  switch (step.kind) {
    case "drop":
      lines.splice(place, step.lines);
      break;
    case "duplicate":
      lines.splice(place, 0, ...lines.slice(place, place + step.lines));
      break;
    case "swap":
      lines.splice(place, 2, ...lines.slice(place, place + 2).toReversed());
      break;
    case "insert":
      lines.splice(place, 0, step.line);
      break;
    case "header":
      lines.splice(1, 0, step.line);
      break;
    case "splice": {
      const other = exported.patches[step.from]?.[1].toString("latin1").split("\n") ?? [];
      lines.splice(place, 0, ...other.slice(-step.lines - 1));
      break;
    }
    case "cut":
      lines.splice(place);
  }
  return lines.join("\n");
}

/** Everything below a directory but what may change: where it is, what it is, what it holds. */
function digest(directory: string, mayChange: (path: string) => boolean): string {
  const hash = createHash("sha256");
  const walk = (path: string): void => {
    const stat = lstatSync(path);
    const name = relative(directory, path);
    if (mayChange(name)) return;
    hash.update(`${name} ${stat.mode}\n`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isDirectory())
      for (const one of readdirSync(path).toSorted()) walk(join(path, one));
    else hash.update(readFileSync(path));
  };
  walk(directory);
  return hash.digest("hex");
}

test(
  "whatever the mails, the trees are the guest's or nothing is published, and nothing else changes",
  NO_SECOND_TRY,
  async () => {
    const { directory, user, base, texts, patches, trees } = exported;
    expect(trees).toHaveLength(4);
    const seen = { taken: 0, refused: 0 };
    const outside = (): string =>
      digest(
        directory,
        (name) => name.startsWith("fuzz-") || /^user\/\.git\/objects\/.+/.test(name),
      );
    const objects = (): string => digest(join(user, ".git/objects"), () => false);
    const before = outside();
    let objectsBefore = objects();
    const mutation = fc.record({
      which: fc.nat(3),
      steps: fc.array(change, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 2 }), async (mutations) => {
        const stateDir = mkdtempSync(join(directory, "fuzz-"));
        const outbox = join(stateDir, "outbox");
        mkdirSync(join(outbox, "patches"), { recursive: true });
        for (const [name, text] of Object.entries(texts)) writeFileSync(join(outbox, name), text);
        for (const [index, [name, mail]] of patches.entries()) {
          const steps = mutations
            .filter(({ which }) => which === index)
            .flatMap((one) => one.steps);
          writeFileSync(join(outbox, "patches", name), steps.reduce(mutate, mail));
        }
        const received = await receive({ topLevel: user, outbox, base, stateDir });
        const branch = received.ok ? received.value.imported.branch : undefined;
        const published =
          branch === undefined
            ? []
            : git(user, ["log", "--reverse", "--format=%T", `${base}..${branch}`]).split("\n");
        if (branch !== undefined) git(user, ["update-ref", "-d", `refs/heads/${branch}`]);
        if (branch !== undefined)
          rmSync(join(user, ".git/refs/heads/agent"), { recursive: true, force: true });
        if (branch !== undefined) objectsBefore = objects();
        rmSync(stateDir, { recursive: true, force: true });
        seen[received.ok ? "taken" : "refused"] += 1;
        if (received.ok) expect(published).toEqual(trees);
        else
          expect(["bad-patches", "import-refused", "import-mismatch"]).toContain(
            received.error.code,
          );
        if (!received.ok) expect(FAILURES[received.error.code].exit).toBe(4);
        expect(objects()).toBe(objectsBefore);
        expect(outside()).toBe(before);
      }),
      fuzzRuns(40),
    );
    if (process.env.FC_PATH === undefined)
      expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(0);
  },
);
