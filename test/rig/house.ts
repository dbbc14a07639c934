import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { openHistory } from "../../src/history/sqlite.ts";
import { ending, succeed } from "./lifecycle.ts";
import { GOOD_AGENT, type World, runsOf } from "./world.ts";

/** Everything counts as old. */
export const AT_ONCE = ["--branch-days", "0", "--record-days", "0", "--pool-days", "0"];
export const ALL_AT_ONCE = ["gc", "--yes", "--all", ...AT_ONCE];
export const DEAD = { pid: 1, startTime: "1", bootId: "before", host: hostname() };

export interface Thing {
  readonly kind: string;
  readonly what: string;
  readonly run: string | null;
  readonly why: string;
}

export interface Gc {
  readonly items: readonly (Thing & { readonly sizeBytes: number | null })[];
  readonly kept: readonly Thing[];
  readonly spared: readonly string[];
  readonly problems: readonly string[];
}

export async function gc(world: World, ...args: readonly string[]): Promise<Gc> {
  const ended = await world.guardloop(["gc", "--json", ...args]);
  return JSON.parse(ended.stdout) as Gc;
}

/** Names, kinds, link targets and bytes of everything below a directory, but for the database's own files, compiled code and marks of engines. */
export function listing(root: string): readonly string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => !/history\.db|^(?:compile-cache|engines)/.test(name))
    .toSorted()
    .map((name) => {
      const stat = lstatSync(join(root, name));
      if (stat.isSymbolicLink()) return `${name} -> ${readlinkSync(join(root, name))}`;
      if (!stat.isFile()) return `${name}/`;
      const bytes = readFileSync(join(root, name));
      return `${name} ${createHash("sha256").update(bytes).digest("hex")}`;
    });
}

export function poolSlots(world: World): readonly string[] {
  const pools = join(world.state, "worktrees");
  return readdirSync(pools).flatMap((pool) =>
    readdirSync(join(pools, pool))
      .filter((slot) => /^\d+$/.test(slot))
      .map((slot) => join(pools, pool, slot, "shop")),
  );
}

export function recordOf(world: World, id: string): string {
  return join(world.state, "runs", id);
}

/** A container that the scripted engine knows, as if somebody had started it. */
export function container(
  world: World,
  name: string,
  labels: { readonly run: string; state?: string },
) {
  const state = createHash("sha256").update(world.state).digest("hex").slice(0, 12);
  mkdirSync(join(world.bin, "containers"), { recursive: true });
  const known = { pid: 2 ** 22 - 1, state, ...labels };
  writeFileSync(join(world.bin, "containers", name), JSON.stringify(known));
}

export const BUILT = { "guardloop.image.inputs": "abc" };

export function images(world: World, list: readonly Record<string, unknown>[]): void {
  writeFileSync(join(world.bin, "docker.images.json"), JSON.stringify(list));
}

export function image(digits: string, more: Record<string, unknown> = {}) {
  const labels = { Config: { Labels: BUILT } };
  return { Id: `sha256:${digits.repeat(32)}`, Size: 1000, RepoTags: [], ...labels, ...more };
}

/** Two runs whose leases overlap, so that the pool has two worktrees. */
export async function twoAtOnce(world: World): Promise<void> {
  const started = join(world.root, "started");
  const wait = join(world.root, "wait");
  writeFileSync(wait, "");
  const script = `touch ${started}; while [ -e ${wait} ]; do sleep 0.1; done; ${GOOD_AGENT}`;
  const first = world.run(script, ["--task", "T1"]);
  while (!existsSync(started)) await delay(50);
  await world.run("true", ["--task", "T2"]);
  rmSync(wait);
  expect(ending(await first)).toBe("exit 0");
}

/** A run whose export failed, so that its snapshot is kept. */
export async function keptRun(world: World, script: string, flags: readonly string[] = []) {
  world.faults({ afterScript: 'rm -rf "$OUTBOX"/*; echo \'{"runRefused":true}\' > "$FAULTS"' });
  await world.run(script, flags);
  world.faults({});
  const [run] = await runsOf(world);
  const shown = JSON.parse((await succeed(world, ["show", "@last", "--json"])).stdout);
  return { id: run?.id ?? "", kept: shown.keptSnapshot as { path: string; until: string } | null };
}

/** As if the days of a kept snapshot had gone by. */
export async function makeLate(world: World, run: { readonly id: string }) {
  const history = openHistory(world.state, () => new Date());
  if (!history.ok) throw new Error("no history");
  const path = join(recordOf(world, run.id), "workspace");
  const until = "2026-01-01T00:00:00.000Z";
  history.value.append(run.id, { type: "snapshot-kept", path, sizeBytes: 1, until });
  history.value[Symbol.dispose]();
  return world.guardloop(["gc", "--yes"]);
}
