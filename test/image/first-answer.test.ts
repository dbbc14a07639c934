import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readHostEnvironment } from "../../src/config/environment.ts";
import { stepper } from "../../src/engine/image/step.ts";

const workDir = mkdtempSync(join(tmpdir(), "guardloop-step-"));
afterAll(() => rmSync(workDir, { recursive: true, force: true }));

/** A pull that says this on standard error, then takes its time. */
async function pull(said: string) {
  const steps = stepper({
    env: readHostEnvironment({ PATH: "/usr/bin:/bin", HOME: workDir }),
    workDir,
    onDetail: () => undefined,
    signal: undefined,
  });
  const exit = await steps.attempt({
    program: "/bin/sh",
    args: ["-c", `echo "${said}" >&2; sleep 1.5`],
    deadlineMs: 60_000,
    firstOutputMs: 1_000,
    firstOutput: /Getting image source|Copying blob/,
  });
  return exit.ok ? exit.value.ended : exit.error.message;
}

test("a registry that has begun to answer on standard error is waited for", async () => {
  expect(await pull("Getting image source signatures")).toBe("by-itself");
});

test("a program that only says what it is trying is ended", async () => {
  expect(await pull("Trying to pull docker.io/library/node:22")).toBe("aborted");
});
