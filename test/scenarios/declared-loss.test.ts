import { expect, test } from "vitest";
import { succeed } from "../rig/lifecycle.ts";
import { GOOD_AGENT, makeWorld } from "../rig/world.ts";

test("a loss on the way is said in show and in review, and by a finding", async () => {
  using world = makeWorld();
  const ended = await world.run(`${GOOD_AGENT}
    git checkout -q -b side; git add -A; git commit -q -m Side
    git checkout -q main; echo m > m.txt; git add m.txt; git commit -q -m Main
    git merge -q --no-edit side`);
  expect(ended.code).toBe(0);
  const why = "the history has a merge commit";
  const [show, review] = [
    await succeed(world, ["show", "@last"]),
    await succeed(world, ["review", "@last"]),
  ];
  expect(show.stdout).toContain(`History was flattened into one patch: ${why}`);
  expect(review.stdout).toContain("declared-loss");
  expect(review.stdout).toContain(why);
  expect(review.stdout).toContain("+work on T1");
  expect(review.stdout).toContain("+m");
});
