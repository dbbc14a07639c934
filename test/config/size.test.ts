import { assert, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { parseSize } from "../../src/config/size.ts";

test.each([
  ["512m", 512 * 1024 ** 2],
  ["4g", 4 * 1024 ** 3],
  ["1.5g", 1.5 * 1024 ** 3],
  ["1G", 1024 ** 3],
  ["64KiB", 64 * 1024],
  ["2 gb", 2 * 1024 ** 3],
  ["1t", 1024 ** 4],
  ["100b", 100],
  ["0.1k", 102],
])("%s is %i bytes", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(["", "4", "g", "-1g", "1,5g", "1g2", "1gx", "1.g", " 1g", "0x1g", "999999999999999t"])(
  "%j is not a size",
  (text) => {
    expect(parseSize(text)).toBeUndefined();
  },
);

test("whole sizes come out exactly, whatever the unit", () => {
  assert(
    property(integer({ min: 0, max: 8000 }), constantFrom(0, 1, 2, 3, 4), (n, power) => {
      expect(parseSize(`${n}${"bkmgt"[power]}`)).toBe(n * 1024 ** power);
    }),
  );
});
