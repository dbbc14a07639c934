import { expect, test } from "vitest";
import { allOf } from "../../src/guest/all-of.ts";

test("work that is left alone by a failure beside it is waited for, and the first failure of the list is told", async () => {
  const done: string[] = [];
  const slow = new Promise<string>((_, reject) => {
    setImmediate(() => {
      done.push("slow");
      reject(new Error("first in the list"));
    });
  });
  const all = allOf([Promise.resolve(1), slow, Promise.reject(new Error("first in time"))]);
  await expect(all).rejects.toThrow("first in the list");
  expect(done).toEqual(["slow"]);
  expect(await allOf([Promise.resolve(1), Promise.resolve("two")])).toEqual([1, "two"]);
});
