import { describe } from "vitest";
import { matrixOf } from "../rig/crash-matrix.ts";

describe("with a lease of treehouse, guardloop is killed", async () => {
  await matrixOf("treehouse", {
    atLeast: 155,
    journalWrites: 21,
    journal: /(lease|agent|release)#/,
    strides: { before: 18, during: 6 },
  });
});
