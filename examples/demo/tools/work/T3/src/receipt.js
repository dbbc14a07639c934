import { subtotal, total } from "./cart.js";
import { taxOn } from "./tax.js";

/** The receipt as text: a line for every item, then tax and total. */
export function receipt(lines) {
  const items = lines.map((line) => `${line.quantity} x ${line.name}`);
  return [...items, `tax ${taxOn(subtotal(lines))}`, `total ${total(lines)}`].join("\n");
}
