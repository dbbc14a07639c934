/** Sum of the lines, in cents. */
export function subtotal(lines) {
  return lines.reduce((sum, line) => sum + line.priceCents * line.quantity, 0);
}
