import * as fc from "fast-check";
import { expect, test } from "vitest";
import { growingRedactor } from "../../src/run/logs/growing-redactor.ts";
import { NO_SECOND_TRY, propertyRuns } from "../rig/property.ts";

const OLD = "token-old-4711";
const NEW = "token-new-4712";

function growing() {
  const secrets = [{ name: "old", value: OLD }];
  return {
    redactor: growingRedactor(() => secrets),
    renew: () => secrets.push({ name: "new", value: NEW }),
  };
}

test("a value that comes later is taken out from then on, and the earlier one still is", () => {
  const { redactor, renew } = growing();
  expect(redactor.text(`${OLD} ${NEW}`)).toBe(`[redacted: old] ${NEW}`);
  renew();
  expect(redactor.text(`${OLD} ${NEW}`)).toBe("[redacted: old] [redacted: new]");
  expect(redactor.data({ a: [NEW] })).toEqual({ a: ["[redacted: new]"] });
});

test("a stream that is under way looks for it too, wherever its chunks begin and end", () => {
  const text = Buffer.from(`a ${OLD} b ${NEW} c ${OLD}`);
  // Renewed before the new value begins, as a token is renewed before it is used; what of it came is in one chunk or two.
  for (let renewedAt = 0; renewedAt <= text.indexOf(NEW); renewedAt += 1)
    for (let cut = renewedAt; cut <= text.length; cut += 1) {
      const { redactor, renew } = growing();
      const stream = redactor.stream();
      const parts = [stream.add(text.subarray(0, renewedAt))];
      renew();
      parts.push(stream.add(text.subarray(renewedAt, cut)), stream.add(text.subarray(cut)));
      parts.push(stream.end());
      expect(Buffer.concat(parts).toString()).toBe(
        "a [redacted: old] b [redacted: new] c [redacted: old]",
      );
    }
});

test("what was replaced already does not come again where its end could begin another value", () => {
  const secrets = [
    { name: "a", value: "secret-one" },
    { name: "b", value: "one-two-three" },
  ];
  const stream = growingRedactor(() => secrets).stream();
  const parts = [stream.add(Buffer.from("x secret-one-"))];
  secrets.push({ name: "new", value: NEW });
  parts.push(stream.add(Buffer.from(` y ${NEW}`)), stream.end());
  expect(Buffer.concat(parts).toString()).toBe("x [redacted: a]- y [redacted: new]");
});

test("nothing is lost and nothing comes twice, whenever it is renewed", NO_SECOND_TRY, () => {
  const piece = fc.constantFrom(OLD, NEW, "token-", "token-old-", "471", "x", " ");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(12), (pieces, when) => {
      const { redactor, renew } = growing();
      const stream = redactor.stream();
      const parts: Buffer[] = [];
      for (const [index, one] of pieces.entries()) {
        if (index === when) renew();
        parts.push(stream.add(Buffer.from(one)));
      }
      const clean = Buffer.concat([...parts, stream.end()]).toString();
      expect(clean).not.toContain(OLD);
      const restored = clean.replaceAll("[redacted: old]", OLD).replaceAll("[redacted: new]", NEW);
      expect(restored).toBe(pieces.join(""));
      expect(when === 0 && clean.includes(NEW)).toBe(false);
    }),
    propertyRuns(500),
  );
});
