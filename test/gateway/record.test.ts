import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EgressEntry } from "../../src/core/egress.ts";
import { sumOf } from "../../src/core/egress-totals.ts";
import { egressFile } from "../../src/run/egress/egress-file.ts";
import { directory } from "./rig.ts";

const ENTRY: EgressEntry = {
  version: 1,
  at: "2026-11-30T12:00:00.000Z",
  kind: "model",
  phase: "agent",
  method: "POST",
  host: "api.openai.com",
  path: "/v1/responses",
  status: 200,
  outcome: "answered",
  reason: null,
  requestBytes: 10,
  responseBytes: 20,
  model: "m",
  tokens: { input: 3, cachedInput: 1, output: 4, counted: "reported" },
  costUsd: 0.5,
  firstByteMs: 12.3456,
  totalMs: 23.4567,
};

test("the record is one JSON object a line, whatever the container wrote", async () => {
  using at = directory();
  const path = join(at.path, "egress.jsonl");
  const odd = { ...ENTRY, path: '/v1/\n{"version":1}\u2028\u001b[31m', model: 'm"}\r\n' };
  {
    await using log = egressFile({ path, limitBytes: 1024 * 1024, onTrouble: () => undefined });
    log.add(odd);
    log.add(ENTRY);
    await log.settle();
  }
  const lines = readFileSync(path, "utf8").split("\n");
  expect(lines).toHaveLength(3);
  const rounded = { firstByteMs: 12.3, totalMs: 23.5 };
  expect(lines.slice(0, 2).map((line): unknown => JSON.parse(line))).toEqual([
    { ...odd, ...rounded },
    { ...ENTRY, ...rounded },
  ]);
});

test("it stays within its limit, keeps beginning and end, and says what is missing", async () => {
  using at = directory();
  const path = join(at.path, "egress.jsonl");
  await using log = egressFile({ path, limitBytes: 16 * 1024, onTrouble: () => undefined });
  for (let index = 0; index < 500; index += 1) log.add({ ...ENTRY, requestBytes: index });
  await log.settle();
  const text = readFileSync(path, "utf8");
  expect(text.length).toBeLessThanOrEqual(16 * 1024);
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type?: string } & EgressEntry);
  expect([lines[0]?.requestBytes, lines.at(-1)?.requestBytes]).toEqual([0, 499]);
  expect(lines.filter(({ type }) => type === "cut")).toHaveLength(1);
  expect(log.loss().cut).toBeGreaterThan(0);
});

test("totals tell refusals, failures, limits and refused credentials apart", () => {
  const entries: readonly EgressEntry[] = [
    ENTRY,
    { ...ENTRY, status: 429, tokens: null, costUsd: null },
    { ...ENTRY, status: 529, tokens: null, costUsd: null },
    { ...ENTRY, status: 401, tokens: null, costUsd: null },
    { ...ENTRY, status: 403, tokens: null, costUsd: null },
    { ...ENTRY, status: 403, outcome: "refused", tokens: null, costUsd: null, requestBytes: 0 },
    { ...ENTRY, status: 502, outcome: "failed", tokens: null, costUsd: null },
    { ...ENTRY, outcome: "cut" },
  ];
  expect(sumOf(entries)).toEqual({
    requests: 8,
    refused: 1,
    failed: 1,
    rateLimited: 2,
    unauthenticated: 2,
    requestBytes: 70,
    responseBytes: 160,
    inputTokens: 6,
    outputTokens: 8,
    costUsd: 1,
  });
});

test("a cost is unknown from the first request on that has no price", () => {
  expect(sumOf([ENTRY, { ...ENTRY, costUsd: null }, ENTRY]).costUsd).toBeNull();
  expect(sumOf([]).costUsd).toBe(0);
});
