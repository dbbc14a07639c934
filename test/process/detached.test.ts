import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDetached } from "../../src/process/detached.ts";

/** What it writes: its own process id and session, as in proc(5), its environment and its directory. */
const PROGRAM = `
const { readFileSync, renameSync, writeFileSync } = require("node:fs");
const stat = readFileSync("/proc/self/stat", "utf8");
const [, , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(0, 4);
const { pid, env } = process;
writeFileSync(process.argv[2] + ".new", JSON.stringify({ pid, group, session, env, cwd: process.cwd() }));
renameSync(process.argv[2] + ".new", process.argv[2]);
`;

test("a detached program has a session, a group and an environment of its own", async () => {
  const root = mkdtempSync(join(tmpdir(), "guardloop-detached-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const program = join(root, "program.cjs");
  const said = join(root, "said");
  writeFileSync(program, PROGRAM);
  startDetached([process.execPath, program, said]);
  await expect.poll(() => readFileSync(said, "utf8"), { timeout: 20_000 }).toContain("pid");
  const { pid, group, session, env, cwd } = JSON.parse(readFileSync(said, "utf8")) as Record<
    string,
    unknown
  >;
  expect([group, session]).toEqual([String(pid), String(pid)]);
  expect(env).toEqual({});
  expect(cwd).toBe("/");
});

test("a program that is not there is no reason to fail", async () => {
  expect(() => startDetached(["/nonexistent/program"])).not.toThrow();
  // The error comes as an event, which would end this process if nobody listened.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
});
