import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PROVIDERS } from "../../src/core/network.ts";
import { PROVIDER_TABLE } from "../../src/gateway/providers/table.ts";
import { parseTarget } from "../../src/gateway/target.ts";
import { NO_SECOND_TRY, fuzzRuns } from "../rig/property.ts";

const RIGHT = [
  "/v1/responses",
  "/v1/models?client_version=1",
  "/v1/chat/completions",
  "/v1/messages?beta=true",
  "/v1beta/models/m:streamGenerateContent?alt=sse",
];
const ODD =
  "/ // /.. /. .. . %2e %2f %00 %5c \\ ; ? & = # @ : http://evil.example key=x files é".split(" ");
const piece = fc.oneof(
  fc.constantFrom(...ODD, " ", "\t", "\r\n", "\0"),
  fc.string({ unit: "binary-ascii", maxLength: 4 }),
);
const edit = fc.record({ at: fc.nat(60), piece, cut: fc.nat(2) });
/** Targets that are almost right: one that is, with something put in its place here and there. */
const target = fc
  .tuple(fc.constantFrom(...RIGHT), fc.array(edit, { maxLength: 3 }))
  .map(([right, edits]) => {
    let text = right;
    for (const { at, piece: put, cut } of edits)
      text = text.slice(0, at) + put + text.slice(at + cut);
    return text;
  });

test("what goes upstream is one plain path of the API, in every reading", NO_SECOND_TRY, () => {
  let passed = 0;
  fc.assert(
    fc.property(
      target,
      fc.constantFrom(...PROVIDERS),
      fc.constantFrom("GET", "POST"),
      (raw, name, method): void => {
        const parsed = parseTarget(raw);
        if (parsed === undefined) return;
        const route = PROVIDER_TABLE[name].route(method, parsed);
        if (route === undefined) return;
        passed += 1;
        const { upstreamPath } = route;
        expect(upstreamPath).toMatch(/^\/[A-Za-z0-9._~:/-]+(?:\?[A-Za-z0-9_.$~=&,-]+)?$/);
        const [path = ""] = upstreamPath.split("?");
        // URL resolves dots and doubled slashes; where it finds nothing to do there was nothing.
        expect(new URL(`https://upstream.example${upstreamPath}`).pathname).toBe(path);
        expect(path).not.toMatch(/\/\/|\/\.|files/);
        expect(upstreamPath).not.toContain("key=");
      },
    ),
    fuzzRuns(3000),
  );
  // Some of them are let through, or nothing was looked at.
  expect(passed).toBeGreaterThan(20);
});
