import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { receive } from "../rig/host-stages.ts";
import { countedGit } from "./counted-git.ts";
import { git, makeStage, runGuest } from "./rig.ts";

/** An agent that makes so many small commits, and leaves a file uncommitted. */
function commits(count: number): string {
  return `{ for i in $(seq ${count}); do
    printf 'commit refs/heads/main\\ncommitter A <a@example.com> 1700000000 +0000\\ndata 2\\nc\\n'
    [ $i = 1 ] && echo "from $(git rev-parse main)"
    printf 'M 100644 inline n%s\\ndata <<E\\n%s\\nE\\n\\n' $((i % 7)) $i; done; } | git fast-import --quiet
    git reset -q --hard; echo left > left`;
}

test("1,000 commits and what was left come back one by one, and are imported", async () => {
  const stage = makeStage();
  const run = await runGuest(stage, { agent: commits(1000) });
  expect(run.code, run.output).toBe(0);
  expect(run.manifest?.history).toEqual({ kind: "linear" });
  const stateDir = mkdtempSync(join(stage.directory, "state-"));
  const side = { topLevel: stage.user, outbox: stage.artifacts, base: stage.base, stateDir };
  const received = await receive(side);
  if (!received.ok) throw new Error(received.error.message);
  const { branch } = received.value.imported;
  expect(git(stage.user, ["rev-list", "--count", `${stage.base}..${branch}`])).toBe("1001");
  expect(git(stage.user, ["show", `${branch}:n6`])).toBe("1000");
});

/** How often the guest starts Git, for an agent with so many commits; the agent's own calls are not among them. */
async function starts(count: number): Promise<number> {
  const stage = makeStage();
  const counted = countedGit(stage);
  const run = await runGuest(stage, { agent: commits(count), env: counted.env });
  expect(run.manifest?.patches.length).toBe(count + 1);
  return counted.starts().length;
}

test("the guest starts Git three times for a commit, and a number of times that is the same for all", async () => {
  const few = await starts(4);
  expect((await starts(24)) - few).toBe(3 * 20);
  expect(few).toBeLessThanOrEqual(3 * 5 + 20);
});
