/**
 * Cuts a stream of NUL-terminated records, so that listings of any length are read without holding them. A record
 * is decoded as latin1: one character a byte, so that file names that are not UTF-8 survive.
 */
export function nulSeparated(onRecord: (record: string) => void): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    const records = (rest + chunk.toString("latin1")).split("\0");
    rest = records.pop() ?? "";
    for (const record of records) onRecord(record);
  };
}

/** A path of a listing as bytes. */
export function pathBytes(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

/** A path of a listing for people: UTF-8, with bytes that are not UTF-8 replaced. */
export function pathText(path: string): string {
  return pathBytes(path).toString("utf8");
}

/** A UTF-8 path in the form that listings use. */
export function asListed(path: string): string {
  return Buffer.from(path, "utf8").toString("latin1");
}
