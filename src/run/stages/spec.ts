import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { GuestJob } from "../../core/artifacts.ts";
import { fail } from "../../core/failures.ts";
import { RELAY_PORTS } from "../../core/network.ts";
import type { RunSpec } from "../../core/run-spec.ts";
import { ok } from "../../core/result.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { PROXY_RELAY } from "../egress/host-proxy.ts";
import { IN_CONTAINER, type RunPaths } from "../paths.ts";
import { PROXY_ENVIRONMENT } from "../setup/proxy-environment.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";
import { writeAccounts } from "../snapshot/throwaway.ts";

export interface Specified {
  readonly specified: true;
}

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
}

/** Makes the run's directory and writes down what it will do, before anything else exists. */
export const specStage: Stage<Input, Specified> = {
  name: "spec",
  async perform(services, { spec }) {
    const { paths } = services;
    await ensurePrivateDirectory(paths.root);
    await mkdir(paths.job, { recursive: true, mode: 0o755 });
    await writeAtomic(paths.spec, `${JSON.stringify(spec, null, 2)}\n`);
    await writeJobFiles(services, spec);
    return ok({ specified: true });
  },
  async observe(services) {
    const text = await readFile(services.paths.spec, "utf8").catch(() => undefined);
    return ok(text === undefined ? "absent" : "present");
  },
  async undo(services) {
    // The record stays: it is what tells a person what happened. Only what was for the container goes.
    await rm(services.paths.job, { recursive: true, force: true });
    return ok(undefined);
  },
};

async function writeJobFiles(services: RunServices, spec: RunSpec): Promise<void> {
  const { paths } = services;
  await writeAccounts(paths.job, spec.container);
  await writeAtomic(join(paths.job, "prompt.md"), spec.prompt, 0o644);
  await copyFile(services.guestBundle, join(paths.job, "guest.cjs"));
}

/** Writes job.json; done when the overlay is known. */
export async function writeJob(
  paths: RunPaths,
  spec: RunSpec,
  overlayPaths: readonly string[],
): Promise<void> {
  const job: GuestJob = {
    version: 1,
    runId: spec.runId,
    mode: "run",
    isolation: "container",
    base: spec.base,
    agent: {
      argv: spec.agent.argv,
      env: { ...proxyEnvironment(spec), ...spec.agent.env },
      homeFiles: spec.agent.homeFiles,
      versionArgv: spec.agent.versionArgv ?? [],
      ...furtherTurns(spec.agent),
    },
    author: spec.agent.author,
    relays: relaysOf(spec),
    overlayPaths,
    paths: {
      workspace: IN_CONTAINER.workspace,
      artifacts: IN_CONTAINER.artifacts,
      prompt: IN_CONTAINER.prompt,
      baseStore: IN_CONTAINER.store,
      baseIndex: IN_CONTAINER.baseIndex,
    },
  };
  await writeAtomic(join(paths.job, "job.json"), `${JSON.stringify(job, null, 2)}\n`, 0o644);
  const exportOnly: GuestJob = { ...job, mode: "export" };
  await writeAtomic(
    join(paths.job, "export.json"),
    `${JSON.stringify(exportOnly, null, 2)}\n`,
    0o644,
  );
}

function proxyEnvironment({ allowHosts = [] }: RunSpec): Readonly<Record<string, string>> {
  return allowHosts.length === 0 ? {} : PROXY_ENVIRONMENT;
}

/** One reminder is a help; a second one would be an agent that does not listen. */
const REMINDERS = 1;
/** The wall clock stands still while a limit is waited for, so something else must bound it. */
const WAITS_FOR_LIMIT = 50;

function furtherTurns({
  reminderArgv,
  afterLimitArgv,
}: RunSpec["agent"]): Pick<GuestJob["agent"], "reminder" | "afterLimit"> {
  const socket = IN_CONTAINER.modelSocket;
  return {
    ...(reminderArgv === undefined ? {} : { reminder: { argv: reminderArgv, most: REMINDERS } }),
    ...(afterLimitArgv === undefined
      ? {}
      : { afterLimit: { argv: afterLimitArgv, most: WAITS_FOR_LIMIT, socket } }),
  };
}

/** The sockets that are mounted, each with its port in the container. */
function relaysOf(spec: RunSpec): NonNullable<GuestJob["relays"]> {
  const model = { port: RELAY_PORTS.model, socket: IN_CONTAINER.modelSocket };
  return [
    ...(spec.gateway === undefined ? [] : [model]),
    ...((spec.allowHosts ?? []).length > 0 ? [PROXY_RELAY] : []),
  ];
}

/** Reads a run's frozen spec back, for recovery and for later commands. */
export async function readSpec(paths: RunPaths) {
  const text = await readFile(paths.spec, "utf8").catch(() => undefined);
  if (text === undefined) return fail("unknown-run", `${paths.spec} is missing.`);
  // Our own file in a directory that only we can write.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return ok(JSON.parse(text) as RunSpec);
}
