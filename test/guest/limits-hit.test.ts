import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readLimitsHit } from "../../src/guest/limits-hit.ts";

function controlGroups(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "guardloop-limits-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

test("limits that were hit are counted with control groups v2", async () => {
  const root = controlGroups({
    "memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n",
    "pids.events": "max 7\n",
  });
  expect(readLimitsHit(root)).toEqual({ memory: 2, processes: 7 });
});

test("and with control groups v1", async () => {
  const root = controlGroups({
    "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
    "pids/pids.events": "max 18\n",
  });
  expect(readLimitsHit(root)).toEqual({ memory: 1, processes: 18 });
});

test("where a sandbox shows none, nothing is known", async () => {
  expect(readLimitsHit(controlGroups({}))).toEqual({ memory: null, processes: null });
  const root = controlGroups({ "pids.events": "nonsense\n", "memory.events": "oom_kill -1\n" });
  expect(readLimitsHit(root)).toEqual({ memory: null, processes: null });
});
