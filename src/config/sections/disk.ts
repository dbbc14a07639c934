import { setting } from "../setting.ts";
import { sizeSchema } from "../size.ts";

const STANDARD_BYTES = 2 * 1024 ** 3;

export const freeFloor = setting({
  key: "disk.free_floor",
  guard: "GUARD_FREE_FLOOR",
  flag: { name: "--free-floor", takes: "SIZE" },
  kind: "text",
  schema: sizeSchema(0),
  expects: 'a size, for example "2g"; "0b" for none',
  standard: "2g",
  description: "Free space below which no new run begins.",
  loosening: { when: "below 2g", test: (bytes) => bytes < STANDARD_BYTES },
});
