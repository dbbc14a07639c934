import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundedLog } from "../../src/run/logs/bounded-log.ts";
import { JSON_CUT, TEXT_MARK, jsonMark } from "../../src/run/logs/cut-mark.ts";
import { propertyRuns } from "../rig/property.ts";
import { logFollower } from "../../src/run/logs/log-follower.ts";

const LIMIT = 64 * 1024;

function place() {
  const directory = mkdtempSync(join(tmpdir(), "guardloop-log-"));
  return {
    path: join(directory, "agent.log"),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function textLog(path: string, troubles: string[] = []) {
  const onTrouble = (reason: string): void => void troubles.push(reason);
  return boundedLog({ path, limitBytes: LIMIT, mark: TEXT_MARK, onTrouble });
}

function line(index: number): Buffer {
  return Buffer.from(`line ${index} ${"x".repeat(50)}\n`);
}

function text(index: number): string {
  return line(index).toString();
}

describe("a log", () => {
  test("that fits is kept as it is", async () => {
    using at = place();
    await using log = textLog(at.path);
    for (let index = 0; index < 100; index += 1) log.add(line(index));
    await log.settle();
    const whole = Array.from({ length: 100 }, (_, index) => line(index));
    expect(readFileSync(at.path)).toEqual(Buffer.concat(whole));
    expect(log.loss()).toEqual({ cut: 0, dropped: 0, unwritten: 0, reason: null });
  });

  test("that does not is never over its limit, and keeps its beginning, its end and whole lines", async () => {
    using at = place();
    await using log = textLog(at.path);
    for (let index = 0; index < 20_000; index += 1) {
      log.add(line(index));
      if (index % 500 !== 0) continue;
      await log.settle();
      expect(statSync(at.path).size).toBeLessThanOrEqual(LIMIT);
    }
    await log.settle();
    const lines = readFileSync(at.path, "utf8").trimEnd().split("\n");
    expect(lines[0]).toBe(line(0).toString().trimEnd());
    expect(lines.at(-1)).toBe(line(19_999).toString().trimEnd());
    const numbers = lines.flatMap((one) => /^line (\d+) x{50}$/.exec(one)?.[1] ?? []).map(Number);
    const marks = lines.filter((one) => !one.startsWith("line "));
    const kept = numbers.map((index) => line(index).length).reduce((sum, one) => sum + one, 0);
    const all = Array.from({ length: 20_000 }, (_, index) => line(index).length);
    const cut = all.reduce((sum, one) => sum + one, 0) - kept;
    expect(marks).toEqual([
      `[guardloop: ${cut} bytes were cut here, to keep the log within 0.1 MiB]`,
    ]);
    expect(log.loss().cut).toBe(cut);
    // One gap, and at both sides of it at least a quarter of the limit, but for a line.
    const gap = numbers.findIndex((number, index) => number !== index);
    expect(numbers.slice(gap)).toEqual(
      Array.from({ length: numbers.length - gap }, (_, index) => (numbers[gap] ?? 0) + index),
    );
    expect(gap * 60).toBeGreaterThan(LIMIT / 4 - 200);
    expect((numbers.length - gap) * 60).toBeGreaterThan(LIMIT / 4 - 200);
  });

  test("of JSON lines stays one, whatever is cut", async () => {
    using at = place();
    const mark = jsonMark(() => new Date(0));
    const options = { path: at.path, limitBytes: LIMIT, mark, onTrouble: () => undefined };
    await using log = boundedLog(options);
    for (let index = 0; index < 5_000; index += 1)
      log.add(Buffer.from(`${JSON.stringify({ type: "output", text: `${index} ü \u0007` })}\n`));
    await log.settle();
    const lines = readFileSync(at.path, "utf8").trimEnd().split("\n");
    const types = lines.map((one) => (JSON.parse(one) as { type: string }).type);
    expect(types.filter((type) => type === "cut")).toHaveLength(1);
  });

  test("opened again goes on where it was", async () => {
    using at = place();
    for (const index of [0, 1]) {
      await using log = textLog(at.path);
      log.add(line(index));
    }
    expect(readFileSync(at.path)).toEqual(Buffer.concat([line(0), line(1)]));
  });
});

describe("a disk", () => {
  test("that is full loses output, says so once and ends nothing", async () => {
    using at = place();
    symlinkSync("/dev/full", at.path);
    const troubles: string[] = [];
    await using log = textLog(at.path, troubles);
    log.add(line(1));
    await log.settle();
    log.add(line(2));
    await log.settle();
    expect(troubles).toEqual(["ENOSPC"]);
    expect(log.loss()).toMatchObject({ unwritten: 2 * line(1).length, reason: "ENOSPC" });
  });

  test("that takes output again gets a mark of what is missing in between, and no half lines", async () => {
    using at = place();
    let isFull = false;
    const openFile = async (path: string) => {
      const handle = await open(path, "a+");
      const appendFile = async (bytes: Buffer): Promise<void> => {
        await handle.appendFile(isFull ? bytes.subarray(0, 3) : bytes);
        if (isFull) throw Object.assign(new Error("full"), { code: "ENOSPC" });
      };
      return {
        appendFile,
        read: handle.read.bind(handle),
        truncate: handle.truncate.bind(handle),
        stat: handle.stat.bind(handle),
        close: handle.close.bind(handle),
      };
    };
    const onTrouble = (): void => undefined;
    const options = { path: at.path, limitBytes: LIMIT, mark: TEXT_MARK, onTrouble, openFile };
    await using log = boundedLog(options);
    for (const [index, full] of [false, true, true, false].entries()) {
      isFull = full;
      log.add(line(index));
      await log.settle();
    }
    const missing = `[guardloop: ${2 * line(1).length} bytes are missing here: the log could not be written (ENOSPC)]`;
    expect(readFileSync(at.path, "utf8")).toBe(`${text(0)}\n${missing}\n${text(3)}`);
  });

  test("that is slow makes nobody wait: what it cannot take is dropped, marked and counted", async () => {
    using at = place();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const openFile = async (path: string) => {
      await released;
      return open(path, "a+");
    };
    const onTrouble = (): void => undefined;
    const limitBytes = 1024 ** 3;
    const options = { path: at.path, limitBytes, mark: TEXT_MARK, onTrouble, openFile };
    await using log = boundedLog(options);
    const mebibyte = Buffer.alloc(1024 * 1024, "a\n");
    for (let count = 0; count < 20; count += 1) log.add(mebibyte);
    release();
    await log.settle();
    log.add(line(1));
    await log.settle();
    expect(log.loss()).toMatchObject({ dropped: 12 * mebibyte.length, unwritten: 0 });
    const written = readFileSync(at.path, "utf8");
    expect(written.slice(8 * mebibyte.length)).toBe(
      `\n[guardloop: ${12 * mebibyte.length} bytes are missing here: they came faster than the disk could take them]\n${text(1)}`,
    );
  });
});

describe("a follower", () => {
  test("sees every line once and in order, also while the middle is cut again and again", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 12 }),
        async (bursts) => {
          using at = place();
          await using log = textLog(at.path);
          await using follower = logFollower(at.path, TEXT_MARK.cut);
          const seen: Buffer[] = [];
          let next = 0;
          for (const burst of bursts) {
            for (const end = next + burst; next < end; next += 1) log.add(line(next));
            await log.settle();
            for await (const piece of follower.more()) seen.push(piece);
          }
          // A burst is less than what a cut leaves at the end, so nothing may be missed.
          const all = Array.from({ length: next }, (_, index) => line(index));
          expect(Buffer.concat(seen).toString()).toBe(Buffer.concat(all).toString());
        },
      ),
      propertyRuns(30),
    );
  });

  test("that was behind goes on at the cut, and shows it", async () => {
    using at = place();
    await using log = textLog(at.path);
    await using follower = logFollower(at.path, TEXT_MARK.cut);
    log.add(line(0));
    await log.settle();
    for await (const piece of follower.more()) expect(piece).toEqual(line(0));
    for (let index = 1; index < 10_000; index += 1) log.add(line(index));
    await log.settle();
    const seen: Buffer[] = [];
    for await (const piece of follower.more()) seen.push(piece);
    const shown = Buffer.concat(seen).toString();
    expect(shown).toContain("bytes were cut here");
    expect(shown.endsWith(text(9_999))).toBe(true);
    expect(JSON_CUT.global && TEXT_MARK.cut.global).toBe(true);
  });
});
