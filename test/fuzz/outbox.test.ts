import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import { readOutbox } from "../../src/run/artifacts/outbox.ts";
import { NO_SECOND_TRY, fuzzRuns } from "../rig/property.ts";

const root = mkdtempSync(join(tmpdir(), "guardloop-fuzz-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SECRET = "TOPSECRET-4711";
writeFileSync(join(root, "secret"), SECRET);
mkdirSync(join(root, "other"));
writeFileSync(join(root, "other/0001-a.patch"), SECRET);

const KINDS = [
  "file",
  "link",
  "dangling",
  "hard link",
  "fifo",
  "directory",
  "device link",
] as const;
type Kind = (typeof KINDS)[number];

interface Entry {
  readonly kind: Kind;
  /** For a file. Sparse, so that sizes at the limits cost nothing. */
  readonly sizeBytes: number;
}

/** Mostly a file; sizes around a limit. */
function entry(limitBytes: number): fc.Arbitrary<Entry> {
  return fc.record({
    kind: fc.oneof(
      { weight: 9, arbitrary: fc.constant("file" as const) },
      { weight: 1, arbitrary: fc.constantFrom(...KINDS) },
    ),
    sizeBytes: fc.oneof(
      { weight: 9, arbitrary: fc.nat(40) },
      { weight: 1, arbitrary: fc.constantFrom(limitBytes, limitBytes + 1, 2 ** 40) },
    ),
  });
}

/** In the place of a whole artifact there may also be nothing. */
function artifact(limitBytes: number): fc.Arbitrary<Entry | undefined> {
  return fc.oneof(
    { weight: 9, arbitrary: entry(limitBytes) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

const letters = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((array) =>
  // A name holds no slash and no NUL, and is not the directory itself.
  Buffer.from(
    array.map((byte) => (byte === 0 || byte === 0x2f || byte === 0x2e ? 0x41 : byte)),
  ).toString("latin1"),
);
const patchName = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.nat(4).map((number) => `${String(number + 1).padStart(4, "0")}-a.patch`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("00002-a.patch", "0001-A.patch", "0000-a.patch", "1-a.patch"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("0001-\n.patch", "0001-a.patch\n", "0001-a.patch~", "-o"),
  },
  { weight: 1, arbitrary: letters },
);
const outbox = fc.record({
  "selected-task-id.txt": artifact(LIMITS.taskIdBytes),
  "last-commit-message.txt": artifact(LIMITS.commitMessageBytes),
  "manifest.json": artifact(LIMITS.manifestBytes),
  patches: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.dictionary(patchName, entry(4096), { maxKeys: 5, noNullPrototype: true }),
    },
    { weight: 1, arbitrary: fc.constantFrom("file", "link", "fifo", "dangling", "missing") },
  ),
  beside: fc.dictionary(letters, fc.constant("junk"), { maxKeys: 2, noNullPrototype: true }),
});
type Drawn = typeof outbox extends fc.Arbitrary<infer T> ? T : never;

const TEXTS = ["selected-task-id.txt", "last-commit-message.txt", "manifest.json"] as const;

function make(directory: string, name: string, { kind, sizeBytes }: Entry): void {
  const path = Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, "latin1")]);
  switch (kind) {
    case "file":
      writeFileSync(path, "");
      return truncateSync(path, sizeBytes);
    case "link":
      return symlinkSync(join(root, "secret"), path);
    case "dangling":
      return symlinkSync(join(root, "nowhere"), path);
    case "device link":
      return symlinkSync("/dev/zero", path);
    case "hard link":
      return linkSync(join(root, "secret"), path);
    case "directory":
      return mkdirSync(path);
    case "fifo":
      execFileSync("sh", ["-c", 'mkfifo -- "$1"', "sh", path.toString("latin1")]);
  }
}

function lay(directory: string, drawn: Drawn): void {
  for (const [name, text] of Object.entries(drawn.beside))
    writeFileSync(Buffer.from(`${directory}/${name}`, "latin1"), text);
  for (const name of TEXTS) {
    const one = drawn[name];
    if (one !== undefined) make(directory, name, one);
  }
  const { patches } = drawn;
  const at = join(directory, "patches");
  if (patches === "link") return symlinkSync(join(root, "other"), at);
  if (patches === "missing") return;
  if (typeof patches === "string") {
    const kinds = { file: "file", fifo: "fifo", dangling: "dangling" } as const;
    return make(directory, "patches", { kind: kinds[patches as keyof typeof kinds], sizeBytes: 0 });
  }
  mkdirSync(at);
  for (const [name, one] of Object.entries(patches)) make(at, name, one);
}

const TEXT_LIMITS = {
  "selected-task-id.txt": LIMITS.taskIdBytes,
  "last-commit-message.txt": LIMITS.commitMessageBytes,
  "manifest.json": LIMITS.manifestBytes,
};

/** What the contract says of an outbox, told from what was drawn and not from what is read. */
function isAcceptable(drawn: Drawn): boolean {
  const textsAreFine = TEXTS.every((name) => {
    const one = drawn[name];
    return one === undefined || (one.kind === "file" && one.sizeBytes <= TEXT_LIMITS[name]);
  });
  const { patches } = drawn;
  if (typeof patches === "string") return textsAreFine && patches === "missing";
  const numbers = Object.keys(patches).map((name) =>
    /^\d{4,6}-[\w.-]{1,100}\.patch$/.test(name) ? Number(name.split("-", 1)[0]) : 0,
  );
  const areCounted = numbers
    .toSorted((a, b) => a - b)
    .every((number, index) => number === index + 1);
  const areFiles = Object.values(patches).every(
    (one) => one.kind === "file" && one.sizeBytes <= LIMITS.patchBytes,
  );
  return textsAreFine && areCounted && areFiles;
}

test(
  "whatever lies in an outbox, it is read within its limits or refused, and no link leads anywhere",
  NO_SECOND_TRY,
  async () => {
    let number = 0;
    const seen = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(outbox, async (drawn) => {
        number += 1;
        const directory = join(root, `outbox-${number}`);
        mkdirSync(directory);
        lay(directory, drawn);
        const read = await readOutbox(directory);
        rmSync(directory, { recursive: true, force: true });
        expect(read.ok ? "taken" : `refused: ${read.error.message}`).toMatch(
          isAcceptable(drawn) ? /^taken$/ : /^refused: The /,
        );
        seen[read.ok ? "taken" : "refused"] += 1;
        if (!read.ok) return;
        const { taskId, commitMessage, manifest, patches } = read.value;
        const held = [taskId, commitMessage, manifest, ...patches.map((patch) => patch.bytes)];
        expect(held.some((bytes) => bytes?.includes(SECRET))).toBe(false);
        const sizes = TEXTS.map((name) => drawn[name]?.sizeBytes);
        expect([taskId, commitMessage, manifest].map((bytes) => bytes?.length)).toEqual(sizes);
        expect(patches.map((patch) => Number(patch.name.split("-", 1)[0]))).toEqual(
          patches.map((_, index) => index + 1),
        );
      }),
      fuzzRuns(700),
    );
    if (process.env.FC_PATH === undefined)
      expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(50);
    expect(readFileSync(join(root, "secret"), "utf8")).toBe(SECRET);
  },
);
