import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowed, plainName, readTarget } from "../../src/gateway/proxy/host-rules.ts";

const allows = (host: string, ...rules: string[]): boolean =>
  isAllowed(plainName(host) ?? "", rules);

describe("an exact rule", () => {
  test.each([
    ["registry.example.org", true],
    ["REGISTRY.example.ORG", true],
    ["registry.example.org.", true],
    ["evil-registry.example.org", false],
    ["registry.example.org.evil.example", false],
    ["x.registry.example.org", false],
    ["example.org", false],
    ["registry.example.org..", false],
  ])("registry.example.org for %s: %s", (host, expected) => {
    expect(allows(host, "registry.example.org")).toBe(expected);
  });
});

describe("a suffix rule", () => {
  test.each([
    ["a.example.org", true],
    ["a.b.example.org", true],
    ["A.Example.ORG.", true],
    ["example.org", false],
    ["evilexample.org", false],
    [".example.org", false],
    ["a.example.org.evil.example", false],
    ["*.example.org", false],
  ])("*.example.org for %s: %s", (host, expected) => {
    expect(allows(host, "*.example.org")).toBe(expected);
  });
});

test("names in other scripts are compared as the network has them", () => {
  expect(allows("bücher.example", "xn--bcher-kva.example")).toBe(true);
  expect(allows("xn--bcher-kva.example", "bücher.example")).toBe(true);
  // Full-width letters and dots are the same name to a resolver.
  expect(allows("ｒegistry。example.org", "registry.example.org")).toBe(true);
  // A letter that only looks the same is another one.
  expect(allows("registrу.example.org", "registry.example.org")).toBe(false);
});

test("whatever is asked for, what passes as a host is a plain name that no rule but its own lets in", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const target = readTarget(`${text}:443`);
      if (target.kind !== "host") return;
      expect(target.host).toMatch(/^[a-z0-9_.-]+$/);
      expect(isAllowed(target.host, ["registry.example.org", "*.example.org"])).toBe(
        target.host === "registry.example.org" || target.host.endsWith(".example.org"),
      );
    }),
  );
});
