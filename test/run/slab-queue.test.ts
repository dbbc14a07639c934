import * as fc from "fast-check";
import { expect, test } from "vitest";
import { slabQueue } from "../../src/run/logs/slab-queue.ts";

const isText = (bytes: Buffer): boolean => Buffer.from(bytes.toString("utf8")).equals(bytes);

test("what goes in comes out in order, also while earlier bytes are still being written", () => {
  const size = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom(200_000, 300_000));
  const turn = fc.record({ size, next: fc.constantFrom("wait", "take", "release") });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
      const queue = slabQueue();
      const went = turns.map((one, index) =>
        Buffer.alloc(one.size - (one.size % 2), index % 3 === 0 ? "ä" : index),
      );
      const came: Buffer[] = [];
      let open: Buffer[] = [];
      const take = (): boolean => {
        const taken = queue.take();
        if (taken === undefined) return false;
        came.push(Buffer.from(taken));
        open.push(taken);
        return true;
      };
      for (const [index, one] of turns.entries()) {
        const added = went[index] ?? Buffer.alloc(0);
        // The same as text: a character of two bytes is one of UTF-16.
        queue.add(index % 3 === 0 && isText(added) ? added.toString("utf8") : added);
        if (one.next !== "wait") take();
        if (one.next !== "release") continue;
        for (const taken of open) queue.release(taken);
        open = [];
      }
      while (take());
      // What was taken and not released has not been written over.
      const rest = Buffer.concat(open);
      const all = Buffer.concat(came);
      expect(all.equals(Buffer.concat(went))).toBe(true);
      expect(all.subarray(all.length - rest.length).equals(rest)).toBe(true);
      for (const taken of open) queue.release(taken);
      expect(queue.bytes()).toBe(0);
    }),
    { numRuns: 200 },
  );
});
