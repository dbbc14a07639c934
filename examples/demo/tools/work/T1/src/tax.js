const RATE_PERCENT = 19;

/** Tax on an amount, in cents, rounded half up. */
export function taxOn(amountCents) {
  if (amountCents < 0) throw new RangeError("an amount cannot be negative");
  return Math.round((amountCents * RATE_PERCENT) / 100);
}
