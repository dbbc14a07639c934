import { taxOn } from "./tax.js";

/** Sum of the lines, in cents. */
export function subtotal(lines) {
  return lines.reduce((sum, line) => sum + line.priceCents * line.quantity, 0);
}

/** What the customer pays, tax included, in cents. */
export function total(lines) {
  const amount = subtotal(lines);
  return amount + taxOn(amount);
}
