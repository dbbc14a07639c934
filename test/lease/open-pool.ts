import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { builtinPool } from "../../src/lease/builtin.ts";
import type { LeasePool } from "../../src/lease/port.ts";
import { treehousePool } from "../../src/lease/treehouse.ts";
import type { SampleRepository } from "./sample-repository.ts";

export const REPOSITORY_ID = "shop-0123456789ab";

export function poolRootOf(repository: SampleRepository): string {
  return join(repository.home, "state", "pool");
}

export function builtinRootOf(repository: SampleRepository): string {
  return join(poolRootOf(repository), REPOSITORY_ID);
}

export function openBuiltin(repository: SampleRepository): LeasePool {
  return builtinPool({
    git: repository.git,
    poolRoot: poolRootOf(repository),
    repositoryId: REPOSITORY_ID,
    commonDir: repository.commonDir,
    basename: "shop",
    host: repository.env.hostname,
  });
}

export function treehouseRootOf(repository: SampleRepository): string {
  return join(poolRootOf(repository), REPOSITORY_ID, "treehouse");
}

/** Fault switches of test/rig/treehouse.js; see its first lines. */
export type Faults = Readonly<Record<string, unknown>>;

/** Puts the scripted treehouse on PATH, with these faults from now on. */
export function installTreehouse(repository: SampleRepository, faults: Faults = {}): string {
  const program = join(repository.bin, "treehouse");
  copyFileSync(join(import.meta.dirname, "..", "rig", "treehouse.js"), program);
  setFaults(repository, faults);
  return program;
}

export function setFaults(repository: SampleRepository, faults: Faults): void {
  writeFileSync(join(repository.bin, "treehouse.faults.json"), JSON.stringify(faults));
}

const call = z.object({ argv: z.array(z.string()), cwd: z.string(), env: z.array(z.string()) });
export type TreehouseCall = Readonly<z.infer<typeof call>>;

export function treehouseCalls(repository: SampleRepository): readonly TreehouseCall[] {
  const file = join(repository.bin, "treehouse.calls.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => call.parse(JSON.parse(line)));
}

export function openTreehouse(
  repository: SampleRepository,
  faults: Faults = {},
  deadlineMs = 30_000,
) {
  return treehousePool({
    program: installTreehouse(repository, faults),
    env: repository.env,
    root: treehouseRootOf(repository),
    repository: { topLevel: repository.topLevel, commonDir: repository.commonDir },
    git: repository.git,
    deadlineMs,
  });
}
