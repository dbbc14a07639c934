import { expect, test } from "vitest";
import { limitEnd } from "../../src/gateway/limit-end.ts";
import { ask, gateway, upstream } from "./rig.ts";

const NOW = new Date("2026-11-30T12:00:00.000Z");

function at(headers: Readonly<Record<string, string>>, json?: unknown): string | undefined {
  return limitEnd({ headers, json }, NOW)?.toISOString();
}

test.each([
  ["seconds", { "retry-after": "30" }, "2026-11-30T12:00:30.000Z"],
  ["parts of seconds", { "retry-after": "0.5" }, "2026-11-30T12:00:00.500Z"],
  ["milliseconds", { "retry-after-ms": "1500", "retry-after": "9" }, "2026-11-30T12:00:01.500Z"],
  ["a date", { "retry-after": "Mon, 30 Nov 2026 12:01:00 GMT" }, "2026-11-30T12:01:00.000Z"],
  [
    "Anthropic's limit of which nothing is left",
    {
      "anthropic-ratelimit-requests-remaining": "5",
      "anthropic-ratelimit-requests-reset": "2026-11-30T13:00:00Z",
      "anthropic-ratelimit-input-tokens-remaining": "0",
      "anthropic-ratelimit-input-tokens-reset": "2026-11-30T12:02:00Z",
    },
    "2026-11-30T12:02:00.000Z",
  ],
  [
    "a plan's limit",
    { "anthropic-ratelimit-unified-reset": "1796043600" },
    "2026-11-30T13:00:00.000Z",
  ],
  [
    "the later of OpenAI's limits that are used up",
    {
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1m2.5s",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "20ms",
    },
    "2026-11-30T12:01:02.500Z",
  ],
  ["nothing", {}, undefined],
  ["words", { "retry-after": "soon" }, undefined],
  ["the past", { "retry-after": "Mon, 30 Nov 2020 12:01:00 GMT" }, undefined],
  ["next year", { "retry-after": "31536000" }, undefined],
] as const)("%s", (_name, headers, expected) => {
  expect(at(headers)).toBe(expected);
});

test.each([
  [
    "Google's RetryInfo",
    { error: { details: [{}, { "@type": "x/google.rpc.RetryInfo", retryDelay: "34.07s" }] } },
    34_070,
  ],
  ["the same in a list", [{ error: { details: [{ retryDelay: "3s" }] } }], 3000],
  [
    "a moment of ChatGPT's plans",
    { error: { type: "usage_limit_reached", resets_at: 1_796_040_060 } },
    60_000,
  ],
  ["a span of ChatGPT's plans", { error: { resets_in_seconds: 90 } }, 90_000],
  ["odd details", { error: { details: ["x", { retryDelay: 5 }] } }, undefined],
])("%s in the body", (_name, json, wait) => {
  const expected = wait === undefined ? undefined : new Date(NOW.getTime() + wait).toISOString();
  expect(at({}, json)).toBe(expected);
});

test("the meter is told, the guest can ask how long it lasts, and an answer ends it", async () => {
  let status = 429;
  let now = NOW;
  await using api = await upstream((_request, response) => {
    response.writeHead(status, { "content-type": "application/json", "retry-after": "30" });
    response.end("{}");
  });
  await using rig = await gateway(`${api.address}/v1`, { now: () => now });
  const limit = async (): Promise<unknown> => {
    const got = await ask(rig.socketPath, { method: "GET", path: "/guardloop/limit" });
    return JSON.parse(got.body);
  };
  const got = await ask(rig.socketPath);
  expect(got).toMatchObject({ status: 429, headers: { "retry-after": "30" } });
  expect(rig.meter.limits).toEqual([{ status: 429, until: new Date("2026-11-30T12:00:30Z") }]);
  expect(await limit()).toEqual({ version: 1, waitMs: 30_000, sawLimit: true });
  now = new Date("2026-11-30T12:00:20Z");
  expect(await limit()).toEqual({ version: 1, waitMs: 10_000, sawLimit: true });
  now = new Date("2026-11-30T12:01:00Z");
  expect(await limit()).toEqual({ version: 1, waitMs: null, sawLimit: true });
  status = 200;
  await ask(rig.socketPath);
  expect(await limit()).toEqual({ version: 1, waitMs: null, sawLimit: false });
  expect(rig.gateway.totals()).toMatchObject({ requests: 2, rateLimited: 1 });
});

test("an overload without a word of its end is a limit all the same", async () => {
  await using api = await upstream((_request, response) => response.writeHead(529).end("busy"));
  await using rig = await gateway(api.address, { provider: "anthropic" });
  await ask(rig.socketPath, { path: "/v1/messages" });
  expect(rig.meter.limits).toEqual([{ status: 529, until: null }]);
});
