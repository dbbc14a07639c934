import assert from "node:assert/strict";
import { test } from "node:test";
import { subtotal } from "../src/cart.js";

test("a cart adds up its lines", () => {
  const lines = [
    { name: "tea", priceCents: 400, quantity: 2 },
    { name: "cup", priceCents: 200, quantity: 1 },
  ];
  assert.equal(subtotal(lines), 1000);
});
