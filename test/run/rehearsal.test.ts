import { expect, test } from "vitest";
import { parseManifest } from "../../src/run/artifacts/manifest.ts";
import { REHEARSED, rehearse } from "../../src/run/review/rehearsal.ts";
import { specOf } from "../rig/host-stages.ts";

test("what is rehearsed while an agent works is what a run that goes well needs, and leaves nothing", async () => {
  expect(parseManifest(REHEARSED)).toMatchObject({ ok: true });
  const policy = { protected: ["docs/**"], raise: [], lower: [] };
  const setup = { lockfiles: ["package-lock.json"] };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const spec = { ...specOf("0".repeat(40)), policy, setup } as never;
  expect(await rehearse(spec)).toBeUndefined();
});
