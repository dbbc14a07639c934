import * as fc from "fast-check";
import { expect, test } from "vitest";
import { redactionsOf } from "../../src/run/export/redact.ts";
import { redactorOf } from "../../src/run/logs/redactor.ts";

const KEY = "tok/4711+abcdefgh";

function redactor(...values: readonly string[]) {
  return redactorOf(redactionsOf(values.map((value, index) => ({ name: `V${index}`, value }))));
}

test("a value is found wherever it is split, raw, percent-encoded, in base64 and in JSON", () => {
  const base64 = Buffer.from(`user:${KEY}`).toString("base64");
  const text = `a ${KEY} b ${encodeURIComponent(KEY)} c ${base64} d ${JSON.stringify(`"${KEY}"`)} e`;
  const bytes = Buffer.from(text);
  for (let at = 0; at <= bytes.length; at += 1) {
    const stream = redactor(KEY).stream();
    const parts = [stream.add(bytes.subarray(0, at)), stream.add(bytes.subarray(at)), stream.end()];
    expect(Buffer.concat(parts).toString()).toBe(
      `a [redacted: V0] b [redacted: V0, percent-encoded] c ${base64.slice(0, 7)}[redacted: V0, in base64]${base64.slice(-1) === "=" ? base64.slice(-3) : ""} d "\\"[redacted: V0]\\"" e`,
    );
  }
});

test("every chunking gives the same, and nothing of any value", () => {
  const values = ["secret-one", "one-secret-two", "aaaaaaaa", "two-aaaa"];
  const word = fc.constantFrom(...values, "secret", "-", "one", "two", "aaa", "ü", "\n", "x");
  const cut = fc.integer({ min: 1, max: 9 });
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 30 }),
      fc.array(cut, { minLength: 1 }),
      (words, sizes) => {
        const bytes = Buffer.from(words.join(""));
        const whole = redactor(...values).text(words.join(""));
        const stream = redactor(...values).stream();
        const parts: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          parts.push(stream.add(bytes.subarray(at, at + size)));
          at += size;
        }
        parts.push(stream.end());
        expect(Buffer.concat(parts).toString()).toBe(whole);
        for (const value of values) expect(whole).not.toContain(value);
      },
    ),
  );
});

test("bytes that are no value stay as they are, and are kept back no longer than they must", () => {
  const bytes = Buffer.from(Array.from({ length: 1024 }, (_, at) => at % 256));
  const stream = redactor(KEY).stream();
  expect(Buffer.concat([stream.add(bytes), stream.end()])).toEqual(bytes);
  expect(redactor(KEY).stream().add(Buffer.from("line\n")).toString()).toBe("line\n");
  expect(redactor(KEY).stream().add(Buffer.from("line tok")).toString()).toBe("line ");
});

test("of a value that goes on without end nothing is kept in memory", () => {
  const stream = redactor("aaaaaaaa").stream();
  let given = stream.add(Buffer.from("a".repeat(8))).length;
  for (let turn = 0; turn < 1000; turn += 1) given += stream.add(Buffer.alloc(64, "a")).length;
  expect(given).toBe("[redacted: V0]".length);
  expect(stream.end().length).toBe(0);
});

test("in data every text is cleaned, and the shape stays", () => {
  const data = { at: [1, null, { text: `x ${KEY}` }], key: true };
  expect(redactor(KEY).data(data)).toEqual({
    at: [1, null, { text: "x [redacted: V0]" }],
    key: true,
  });
});
