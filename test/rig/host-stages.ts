import { join } from "node:path";
import type { HostEnvironment } from "../../src/core/environment.ts";
import type { Failure } from "../../src/core/failures.ts";
import type { RunSpec } from "../../src/core/run-spec.ts";
import { type Result, ok } from "../../src/core/result.ts";
import { openPrincipal } from "../../src/git/principal.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { readOutbox, saveOutbox } from "../../src/run/artifacts/outbox.ts";
import { runPaths } from "../../src/run/paths.ts";
import type { RunServices } from "../../src/run/services.ts";
import { type Collected, check } from "../../src/run/stages/collect.ts";
import { type Imported, importStage } from "../../src/run/stages/import.ts";

export const RUN_ID = "261129-164712-k3f9q";
export const AGENT = { name: "Agent Smith", email: "agent@example.com" };
/** Start of the run, in seconds after the epoch. */
export const STARTED_SECONDS = Date.parse("2026-11-29T16:47:12Z") / 1000;

export interface HostSide {
  /** The user's repository. */
  readonly topLevel: string;
  /** What the container left. */
  readonly outbox: string;
  readonly base: string;
  /** A directory for the run's record. */
  readonly stateDir: string;
  /** Where programs are found; the test's own by default. */
  readonly path?: string;
}

export type Received = Result<Collected & Imported, Failure>;

/**
 * Reads, checks and imports what a container left, with the host's own stages and without the rest of a run: the
 * branch is published in the user's repository.
 */
export async function receive(side: HostSide): Promise<Received> {
  const env = hostEnvironment(side.stateDir, side.path);
  const gitProgram = findProgram("git", env.path) ?? "git";
  const principal = await openPrincipal(gitProgram, env, side.topLevel);
  if (!principal.ok) throw new Error(principal.error.message);
  const spec = specOf(side.base);
  const outbox = await readOutbox(side.outbox);
  if (!outbox.ok) return outbox;
  const paths = runPaths(side.stateDir, RUN_ID);
  await saveOutbox(outbox.value, paths.artifacts);
  const collected = check(outbox.value, spec);
  if (!collected.ok) return collected;
  const services = { env, gitProgram, principal: principal.value, paths, now: () => new Date() };
  // What the import does not need is not there.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const imported = await importStage.perform(services as unknown as RunServices, {
    runId: RUN_ID,
    spec,
    collected: collected.value,
  });
  return imported.ok ? ok({ collected: collected.value, ...imported.value }) : imported;
}

/** As much of a run spec as the stages read. */
export function specOf(base: string): RunSpec {
  const spec = {
    runId: RUN_ID,
    startedAt: new Date(STARTED_SECONDS * 1000).toISOString(),
    base,
    offered: ["T-1", "T-2"].map((id) => ({ id, title: "", acceptance: [], file: "", line: 1 })),
    agent: { argv: ["agent"], author: AGENT },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return spec as unknown as RunSpec;
}

function hostEnvironment(stateDir: string, path = process.env.PATH ?? ""): HostEnvironment {
  return {
    path,
    home: join(stateDir, "home"),
    stateDir,
    configDir: join(stateDir, "config"),
    hostname: "host",
    noColor: true,
    user: "sample",
    docker: {},
    podman: {},
    pager: {},
    terminal: {},
    desktop: {},
    runtimeDir: undefined,
    tempDir: "/tmp",
    proxy: { httpsProxy: undefined, httpProxy: undefined, noProxy: "", caFiles: [] },
    guard: {},
    git: { GIT_CONFIG_NOSYSTEM: "1" },
    read: () => undefined,
  };
}
