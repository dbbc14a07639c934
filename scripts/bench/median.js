export function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of each key, over measurements that each have some of them. */
export function medians(measurements) {
  const keys = [...new Set(measurements.flatMap((one) => Object.keys(one)))];
  return Object.fromEntries(
    keys.map((key) => [key, rounded(median(measurements.map((one) => one[key] ?? 0)))]),
  );
}

export function rounded(value) {
  return Math.round(value * 1000) / 1000;
}
