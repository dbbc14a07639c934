import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { mayBeAlive, ownerOf } from "../../src/process/owner.ts";

const HERE = hostname();

/** Starts a child that ends at once, under a parent that never asks how; resolves with the pid of both. */
async function zombie(): Promise<{
  readonly pid: number;
  readonly parent: ReturnType<typeof spawn>;
}> {
  const parent = spawn("sh", ["-c", 'sleep 0 & echo "$!"; exec sleep 60'], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const pid = await new Promise<number>((resolve) =>
    parent.stdout.once("data", (text: Buffer) => resolve(Number(text.toString("utf8")))),
  );
  return { pid, parent };
}

test("a process that lives is alive; the same number at another time is not", () => {
  const owner = ownerOf(process.pid, HERE);
  expect(mayBeAlive(owner, HERE)).toBe(true);
  expect(mayBeAlive({ ...owner, startTime: "1" }, HERE)).toBe(false);
  expect(mayBeAlive({ ...owner, bootId: "another" }, HERE)).toBe(false);
  expect(mayBeAlive({ ...owner, bootId: "another" }, "elsewhere")).toBe(true);
});

test("a zombie is gone, though its number is still taken", async () => {
  const { pid, parent } = await zombie();
  try {
    const owner = { ...ownerOf(process.pid, HERE), pid };
    await expect.poll(() => mayBeAlive({ ...owner, startTime: startOf(pid) }, HERE)).toBe(false);
    expect(() => process.kill(pid, 0)).not.toThrow();
  } finally {
    parent.kill("SIGKILL");
  }
});

/** As the kernel has it, also for a zombie. */
function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
