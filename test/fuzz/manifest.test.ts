import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/core/limits.ts";
import { parseManifest } from "../../src/run/artifacts/manifest.ts";
import { NO_SECOND_TRY, fuzzRuns } from "../rig/property.ts";

const ID = "0123456789abcdef0123456789abcdef01234567";

const VALID = {
  version: 1,
  base: ID,
  patches: [
    {
      file: "0001-do.patch",
      commit: ID,
      tree: ID,
      author: { name: "Ä", email: "a@example.com", date: "1 +0000" },
      message: "Do ✓\n",
    },
  ],
  finalTree: ID,
  history: { kind: "flattened", reason: "the history has a merge commit", commits: 2 },
  committedLeftovers: true,
  ignoredLeftBehind: { total: 1, names: ["build/"] },
  agent: { outcome: "exited", exitCode: 0, signal: null },
  versions: { guest: "1", node: "22", git: "2" },
};

const text = JSON.stringify(VALID);
/** Where something can be put: every field of the valid manifest, by its path. */
const PATHS = pathsOf(VALID);

function pathsOf(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [[]];
  const below = Object.entries(value).flatMap(([key, part]) =>
    pathsOf(part).map((path) => [key, ...path]),
  );
  return [[], ...below];
}

/** The manifest with another value at one place, as text: JSON has things that objects do not have. */
function withValueAt(path: readonly string[], put: string): string {
  const mark = `mark-${ID}`;
  const copy: unknown = JSON.parse(text);
  if (path.length === 0) return put;
  let place = copy as Record<string, unknown>;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string, unknown>;
  place[path.at(-1) ?? ""] = mark;
  return JSON.stringify(copy).replace(`"${mark}"`, put);
}

const odd = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "-0",
    "[]",
    "{}",
    '""',
    '"\\ud800"',
    '"\\u0000"',
    '"__proto__"',
    '{"__proto__":1}',
    '{"toString":1}',
    "9007199254740993",
    `"${ID}"`,
    "2",
    `"${"f".repeat(41)}"`,
    `"${"x".repeat(2000)}"`,
    `"${"x".repeat(70_000)}"`,
    `[${ID.at(1)}]`,
  ),
  fc.json(),
  fc.string({ unit: "binary" }).map((value) => JSON.stringify(value)),
);
const elsewhere = fc.record({ path: fc.constantFrom(...PATHS), put: odd });
const edited = fc
  .array(
    fc.record({ at: fc.nat(text.length), cut: fc.nat(9), put: fc.uint8Array({ maxLength: 6 }) }),
    { minLength: 1, maxLength: 4 },
  )
  .map((edits) => {
    let bytes = Buffer.from(text);
    for (const { at, cut, put } of edits)
      bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);
    return bytes;
  });
const input = fc.oneof(
  { weight: 4, arbitrary: elsewhere.map(({ path, put }) => Buffer.from(withValueAt(path, put))) },
  { weight: 4, arbitrary: edited },
  { weight: 1, arbitrary: fc.json().map((value) => Buffer.from(value)) },
  { weight: 1, arbitrary: fc.uint8Array().map((value) => Buffer.from(value)) },
);

test(
  "whatever the manifest, it is refused, or is exactly what was written and within limits",
  NO_SECOND_TRY,
  () => {
    let accepted = 0;
    fc.assert(
      fc.property(input, (bytes) => {
        const read = parseManifest(bytes);
        if (!read.ok) {
          expect(read.error.code).toBe("bad-manifest");
          expect(read.error.message).toMatch(/^The artifact manifest\.json is not /);
          return;
        }
        accepted += 1;
        const { value } = read;
        const again = parseManifest(Buffer.from(JSON.stringify(value)));
        expect(JSON.stringify(again)).toBe(JSON.stringify({ ok: true, value }));
        // What was accepted is what the bytes say, field by field, and no field of another kind.
        const said: unknown = JSON.parse(bytes.toString("utf8"));
        expect(JSON.parse(JSON.stringify(said))).toMatchObject(JSON.parse(JSON.stringify(value)));
        expect(Buffer.from(bytes.toString("utf8"))).toEqual(bytes);
        expect(kindsOf(value)).toEqual(kindsOf(VALID, value));
        for (const { tree, commit, message, author } of value.patches) {
          expect([tree, commit].every((id) => /^[0-9a-f]{40}$/.test(id))).toBe(true);
          expect(message.length).toBeLessThanOrEqual(LIMITS.manifestBytes);
          expect(author.date).toMatch(/^-?\d+ [+-]\d{4}$/);
        }
      }),
      fuzzRuns(4000),
    );
    if (process.env.FC_PATH === undefined) expect(accepted).toBeGreaterThan(50);
  },
);

/** The kind of every top-level field: a list where a text should be is noticed. `like` says which fields there are. */
function kindsOf(value: object, like: object = value): readonly string[] {
  const kinds = new Map(
    Object.entries(value).map(([key, part]) => [
      key,
      Array.isArray(part) ? "list" : part === null ? "null" : typeof part,
    ]),
  );
  return Object.keys(like).map((key) => `${key}: ${kinds.get(key) ?? "missing"}`);
}
