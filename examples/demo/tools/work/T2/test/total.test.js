import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/cart.js";

test("the total includes the tax", () => {
  assert.equal(total([{ name: "tea", priceCents: 1000, quantity: 1 }]), 1190);
});
