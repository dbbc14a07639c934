import assert from "node:assert/strict";
import { test } from "node:test";
import { receipt } from "../src/receipt.js";

test("a receipt ends with the total", () => {
  const text = receipt([{ name: "tea", priceCents: 1000, quantity: 1 }]);
  assert.equal(text, "1 x tea\ntax 190\ntotal 1190");
});
