import assert from "node:assert/strict";
import { test } from "node:test";
import { taxOn } from "../src/tax.js";

test("tax is 19 percent, rounded to a whole cent", () => {
  assert.equal(taxOn(1000), 190);
  assert.equal(taxOn(3), 1);
});

test("a negative amount is refused", () => {
  assert.throws(() => taxOn(-1), RangeError);
});
