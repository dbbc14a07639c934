import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { claimName, claimReturn, finishReturn, takeSlot } from "../../src/lease/builtin/claim.ts";
import { type LeaseRecord, newRecord, writeRecord } from "../../src/lease/builtin/record.ts";
import { slotAt } from "../../src/lease/builtin/slots.ts";
import type { Lease } from "../../src/lease/port.ts";
import { bad, good } from "./expectations.ts";
import { builtinRootOf, openBuiltin } from "./open-pool.ts";
import { type SampleRepository, sampleRepository } from "./sample-repository.ts";

/** A record whose owner is proven dead: its machine was started anew since. */
function deadRecord(repository: SampleRepository, holder: string): LeaseRecord {
  const record = newRecord(holder, "shop", repository.env.hostname);
  return { ...record, owner: { ...record.owner, bootId: "an-earlier-boot" } };
}

async function leaseOfTheDead(repository: SampleRepository): Promise<Lease> {
  const record = deadRecord(repository, "guardloop:dead");
  const root = builtinRootOf(repository);
  mkdirSync(root, { recursive: true });
  expect(await takeSlot(root, slotAt(root, 1), record)).toBe("taken");
  const path = join(root, "1", "shop");
  return { kind: "builtin", id: record.id, holder: record.holder, path };
}

describe("a lease whose process died", () => {
  test("is not taken over by the next lease, but is found and can be returned", async () => {
    const repository = sampleRepository();
    const pool = openBuiltin(repository);
    const dead = await leaseOfTheDead(repository);
    const base = repository.head();
    const next = good(await pool.acquire({ holder: "guardloop:next", base }));
    expect(dirname(next.path)).toBe(join(builtinRootOf(repository), "2"));
    expect(good(await pool.find("guardloop:dead"))).toEqual([dead]);
    expect(good(await pool.inspect())).toEqual([
      "Slot 1 of the pool is leased by guardloop:dead, whose process is gone; run `guardloop recover`.",
    ]);
    expect(good(await pool.release(dead))).toBe("returned");
    expect(good(await pool.inspect())).toEqual([]);
    const third = good(await pool.acquire({ holder: "guardloop:third", base }));
    expect(third.path).toBe(dead.path);
  });

  test("in the middle of its return is found and returned", async () => {
    const repository = sampleRepository();
    const pool = openBuiltin(repository);
    const lease = await leaseOfTheDead(repository);
    const directory = slotAt(builtinRootOf(repository), 1).leaseDirectory;
    const { owner } = deadRecord(repository, lease.holder);
    renameSync(join(directory, `${lease.id}.json`), join(directory, claimName(lease.id, owner)));
    expect(good(await pool.find("guardloop:dead"))).toEqual([lease]);
    expect(good(await pool.release(lease))).toBe("returned");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("on its way into a slot leaves a record that the next lease sweeps away", async () => {
    const repository = sampleRepository();
    const root = builtinRootOf(repository);
    const dead = deadRecord(repository, "guardloop:dead");
    const alive = newRecord("guardloop:alive", "shop", repository.env.hostname);
    for (const record of [dead, alive]) {
      const directory = join(root, `.new-${record.id}-${record.owner.pid}`);
      mkdirSync(directory, { recursive: true });
      await writeRecord(join(directory, `${record.id}.json`), record);
    }
    const base = repository.head();
    good(await openBuiltin(repository).acquire({ holder: "guardloop:one", base }));
    expect(readdirSync(root).toSorted()).toEqual([`.new-${alive.id}-${process.pid}`, "1"]);
  });
});

describe("a slot changes hands atomically", () => {
  test("of many takers at the same time exactly one wins", async () => {
    const repository = sampleRepository();
    const root = builtinRootOf(repository);
    mkdirSync(root, { recursive: true });
    const host = repository.env.hostname;
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () =>
        takeSlot(root, slotAt(root, 1), newRecord("guardloop:x", "shop", host)),
      ),
    );
    expect(outcomes.filter((each) => each === "taken")).toHaveLength(1);
    expect(readdirSync(slotAt(root, 1).leaseDirectory)).toHaveLength(1);
    expect(readdirSync(root)).toEqual(["1"]);
  });

  test("of two who return the same lease at the same time one does it", async () => {
    const repository = sampleRepository();
    const root = builtinRootOf(repository);
    mkdirSync(root, { recursive: true });
    const host = repository.env.hostname;
    const record = newRecord("guardloop:x", "shop", host);
    const slot = slotAt(root, 1);
    await takeSlot(root, slot, record);
    const claim = await claimReturn(slot, record.id, host);
    if (typeof claim === "string") throw new Error(`the first one is told ${claim}`);
    expect(await claimReturn(slot, record.id, host)).toBe("busy");
    const newcomer = newRecord("guardloop:y", "shop", host);
    expect(await takeSlot(root, slot, newcomer)).toBe("held");
    await finishReturn(claim);
    expect(await takeSlot(root, slot, newcomer)).toBe("taken");
    expect(await claimReturn(slot, record.id, host)).toBe("gone");
  });

  test("a lease that could not be prepared is not kept", async () => {
    const repository = sampleRepository();
    const pool = openBuiltin(repository);
    // A file where git wants to keep its registrations.
    writeFileSync(join(repository.commonDir, "worktrees"), "");
    const failed = bad(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
    expect(failed.code).toBe("lease-failed");
    expect(failed.message).toContain(join(builtinRootOf(repository), "1", "shop"));
    expect(good(await pool.find(""))).toEqual([]);
  });
});

async function fill(repository: SampleRepository, slots: number): Promise<void> {
  const root = builtinRootOf(repository);
  mkdirSync(root, { recursive: true });
  for (let number = 1; number <= slots; number += 1) {
    const record = newRecord(`guardloop:r${number}`, "shop", repository.env.hostname);
    await takeSlot(root, slotAt(root, number), record);
  }
}

describe("the limits of the built-in pool", () => {
  test("the 65th lease is refused", async () => {
    const repository = sampleRepository();
    await fill(repository, 64);
    const pool = openBuiltin(repository);
    const full = bad(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
    expect(full).toMatchObject({ code: "lease-failed" });
    expect(full.message).toContain("All 64 worktrees");
    expect(full.cure).toContain("guardloop recover");
  });

  test("a nearly full pool is complained about", async () => {
    const repository = sampleRepository();
    await fill(repository, 60);
    const sentences = good(await openBuiltin(repository).inspect());
    expect(sentences.join("\n")).toContain("60 of the 64 worktrees");
  });
});

test("something that is no lease record keeps its slot taken and is complained about", async () => {
  const repository = sampleRepository();
  const pool = openBuiltin(repository);
  const slot = slotAt(builtinRootOf(repository), 1);
  mkdirSync(slot.leaseDirectory, { recursive: true });
  writeFileSync(join(slot.leaseDirectory, "note.txt"), "half a record");
  const lease = good(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
  expect(dirname(lease.path)).toBe(join(builtinRootOf(repository), "2"));
  expect(good(await pool.inspect()).join("\n")).toContain("note.txt is not a lease record");
});

test("a path outside the pool is not returned", async () => {
  const repository = sampleRepository();
  const pool = openBuiltin(repository);
  const lease = good(await pool.acquire({ holder: "guardloop:one", base: repository.head() }));
  const elsewhere = { ...lease, path: repository.topLevel };
  expect(bad(await pool.release(elsewhere)).code).toBe("release-failed");
  expect(good(await pool.release({ ...lease, id: "0".repeat(32) }))).toBe("already-returned");
  expect(good(await pool.find(""))).toEqual([lease]);
});
