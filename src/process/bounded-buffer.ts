/** Collects chunks up to `limitBytes` and drops the rest, so that a chatty child cannot fill our memory. */
export function boundedBuffer(limitBytes: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  let dropped = false;
  return {
    add(chunk: Buffer): void {
      const room = limitBytes - size;
      if (chunk.length > room) dropped = true;
      if (room <= 0) return;
      const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
      chunks.push(kept);
      size += kept.length;
    },
    bytes: (): Buffer => Buffer.concat(chunks),
    truncated: (): boolean => dropped,
  };
}
