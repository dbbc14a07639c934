const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/**
 * A length of time in its two largest units, for people: `1 h 12 min`, `0.4 s`. Between two readings of a clock that was
 * set back meanwhile lies a negative one, of which nothing is known but that it was some time: it is shown as none.
 */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const parts: string[] = [];
  let rest = Math.round(seconds);
  for (const [name, length] of UNITS) {
    const count = Math.floor(rest / length);
    if (count > 0) parts.push(`${count} ${name}`);
    rest -= count * length;
  }
  return parts.slice(0, 2).join(" ");
}

/** How long ago an ISO time was. */
export function ago(iso: string, now: Date): string {
  return `${duration(Math.max(0, now.getTime() - Date.parse(iso)))} ago`;
}

/** Bytes in binary units, for people. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KiB`;
  if (bytes < 1024 ** 3) return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
}
