import { describe } from "vitest";
import { matrixOf } from "../rig/crash-matrix.ts";

describe("with a lease of the built-in pool, guardloop is killed", async () => {
  await matrixOf("builtin", {
    atLeast: 175,
    journalWrites: 21,
    journal: /./,
    strides: { before: 12, during: 5 },
  });
});
