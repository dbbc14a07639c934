import { expect, test } from "vitest";
import { isAbandoned } from "../../src/files/write-atomic.ts";

test("an unfinished file is abandoned when its writer is gone, and no other file ever is", () => {
  // Beyond what Linux numbers processes by.
  const gone = 2 ** 22 + 1;
  expect(isAbandoned(`state.json.${gone}.tmp`)).toBe(true);
  expect(isAbandoned(`state.json.${process.pid}.tmp`)).toBe(false);
  for (const name of ["state.json", "notes.tmp", `state.json.${gone}`, `${gone}.tmp.json`])
    expect(isAbandoned(name)).toBe(false);
});
