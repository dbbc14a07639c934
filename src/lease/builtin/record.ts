import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { type Owner, ownerOf } from "../../process/owner.ts";
import { type Slot, namesIn } from "./slots.ts";

const schema = z.object({
  version: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{32}$/),
  holder: z.string(),
  /** Name of the worktree's directory in the slot. */
  worktree: z.string(),
  leasedAt: z.string(),
  owner: z.object({
    pid: z.int().positive(),
    startTime: z.string(),
    bootId: z.string(),
    host: z.string(),
  }),
});

/** Who holds a slot, or (in a return marker) who is returning it. */
export type LeaseRecord = Readonly<z.infer<typeof schema>> & { readonly owner: Owner };

export function newRecord(holder: string, worktree: string, host: string): LeaseRecord {
  return {
    version: 1,
    id: randomBytes(16).toString("hex"),
    holder,
    worktree,
    leasedAt: new Date().toISOString(),
    owner: ownerOf(process.pid, host),
  };
}

export interface SlotRecords {
  /** The lease comes before its return marker; both carry the same id. */
  readonly records: readonly LeaseRecord[];
  /** Paths of entries that are no lease record. They keep the slot from being handed out. */
  readonly unreadable: readonly string[];
}

/** Reads what holds the slot. Both lists are empty when it is free. */
export async function recordsOf(slot: Slot): Promise<SlotRecords> {
  const records: LeaseRecord[] = [];
  const unreadable: string[] = [];
  const names = await namesIn(slot.leaseDirectory);
  for (const name of names.toSorted()) {
    const path = join(slot.leaseDirectory, name);
    const record = await readRecord(path);
    if (record === "gone") continue;
    if (record === "unreadable") unreadable.push(path);
    else records.push(record);
  }
  return { records, unreadable };
}

export async function readRecord(path: string): Promise<LeaseRecord | "gone" | "unreadable"> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    return "gone";
  }
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : "unreadable";
  } catch {
    return "unreadable";
  }
}

/** Writes a new file and makes its bytes durable before anybody can see it under its final name. */
export async function writeRecord(path: string, record: LeaseRecord): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(record)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
