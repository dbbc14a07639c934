const SLAB_BYTES = 256 * 1024;

interface Slab {
  readonly buffer: Buffer;
  used: number;
}

/**
 * Bytes that wait, copied into buffers that are used again. Were the chunks themselves kept, they would live just long
 * enough for the collector to look at them seldom, and a runner whose agent prints much would grow by all of them.
 */
export function slabQueue() {
  const waiting: Slab[] = [];
  const free: Buffer[] = [];
  let bytes = 0;
  const slabFor = (length: number): Slab => {
    const last = waiting.at(-1);
    if (last !== undefined && last.buffer.length - last.used >= length) return last;
    const buffer = length > SLAB_BYTES ? Buffer.allocUnsafeSlow(length) : free.pop();
    const slab = { buffer: buffer ?? Buffer.allocUnsafeSlow(SLAB_BYTES), used: 0 };
    waiting.push(slab);
    return slab;
  };
  return {
    /** Of everything that was added and not released. */
    bytes: (): number => bytes,
    /** What is added together comes out together, with what was added before and after. Text becomes UTF-8. */
    add(added: Uint8Array | string): void {
      const length = Buffer.byteLength(added);
      const slab = slabFor(length);
      if (typeof added === "string") slab.buffer.write(added, slab.used);
      else slab.buffer.set(added, slab.used);
      slab.used += length;
      bytes += length;
    },
    /** The oldest that waits; undefined when nothing does. To be released. */
    take(): Buffer | undefined {
      const slab = waiting.shift();
      return slab?.buffer.subarray(0, slab.used);
    },
    /** What was taken is not looked at any more. */
    release(taken: Buffer): void {
      bytes -= taken.length;
      if (taken.buffer.byteLength === SLAB_BYTES) free.push(Buffer.from(taken.buffer));
    },
  };
}
