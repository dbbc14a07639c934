import { expect, test } from "vitest";
import { endProcess } from "../../src/run/end-process.ts";

const QUICK = { pollMs: 1, politeMs: 20, killedMs: 20 };

test("a process that ends when it is asked to is not killed", async () => {
  const sent: string[] = [];
  const ended = await endProcess(
    { signal: (name) => (sent.push(name), "sent"), isAlive: () => sent.length < 3 },
    { ...QUICK, politeMs: 10_000 },
  );
  expect(ended).toBe("sent");
  expect(sent).toEqual(["SIGTERM", "SIGTERM", "SIGTERM"]);
});

test("one that does not is killed", async () => {
  const sent: string[] = [];
  const ended = await endProcess(
    { signal: (name) => (sent.push(name), "sent"), isAlive: () => !sent.includes("SIGKILL") },
    QUICK,
  );
  expect(ended).toBe("sent");
  expect(sent.at(-1)).toBe("SIGKILL");
});

test("one that waits in the kernel is not waited for without end", async () => {
  const sent: string[] = [];
  const ended = await endProcess(
    { signal: (name) => (sent.push(name), "sent"), isAlive: () => true },
    QUICK,
  );
  expect(ended).toBe("survived");
  expect(sent).toContain("SIGKILL");
});

test("one that no signal reaches is left alone", async () => {
  const ended = await endProcess({ signal: () => "denied", isAlive: () => true }, QUICK);
  expect(ended).toBe("denied");
});
