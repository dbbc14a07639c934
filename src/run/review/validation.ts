import { cp, lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type {
  RunSpec,
  Validation,
  ValidationCommand,
  ValidationResult,
} from "../../core/run-spec.ts";
import type { SnapshotLayout } from "../../git/snapshot.ts";
import { startClocks } from "../container/clocks.ts";
import { inContainerSlot } from "../container/host-slots.ts";
import { validationSpec } from "../container/container.ts";
import { type CommandLog, commandLog } from "../logs/command-log.ts";
import { removeLater } from "../house/remove-later.ts";
import { IN_CONTAINER } from "../paths.ts";
import type { RunServices } from "../services.ts";
import { ensureSetup } from "../setup/ensure-setup.ts";
import { placeResult } from "../setup/place-result.ts";
import { proveGone } from "../stages/collect.ts";
import { makeThrowaway, writeAccounts } from "../snapshot/throwaway.ts";

export interface ValidationRequest {
  readonly spec: RunSpec;
  readonly head: string;
  readonly tree: string;
  readonly commands: readonly ValidationCommand[];
}

/**
 * Runs the project's commands on exactly the imported tree plus the overlay and what setup made, each in a fresh sealed container over
 * one throwaway work tree, so that what one builds the next can test. How each ended is the engine's word, not the
 * container's. Nothing is taken back from it. After the first that does not pass, the rest are not run.
 */
export async function validate(
  services: RunServices,
  request: ValidationRequest,
): Promise<Result<Validation, Failure>> {
  await removeLater(services, [services.paths.validation]);
  try {
    const ready = await makeWorkspace(services, request);
    if (!ready.ok) return ready;
    await using log = await commandLog(services, request.spec, {
      path: services.paths.validationLog,
      of: "validation",
    });
    return await inContainerSlot(services, { spec: request.spec, onInterrupt: "fail" }, () =>
      runCommands(services, request, log),
    );
  } finally {
    await removeLater(services, [services.paths.validation]);
  }
}

async function makeWorkspace(
  services: RunServices,
  { spec, head }: ValidationRequest,
): Promise<Result<void, Failure>> {
  const { paths } = services;
  const layout: SnapshotLayout = {
    program: services.gitProgram,
    env: services.env,
    storeDir: join(paths.validation, "base.git"),
    workspaceDir: join(paths.validation, "workspace"),
    indexFile: join(paths.validation, "index"),
    base: head,
    branch: spec.branch,
    storeInContainer: IN_CONTAINER.store,
  };
  const ready = await ensureSetup(services, spec);
  if (!ready.ok) return ready;
  const setup = ready.value;
  const made = await makeThrowaway(services.principal.git, layout, {
    owner: spec.container,
    addUntracked: async () => {
      await copyKeptOverlay(paths.overlay, layout.workspaceDir);
      if (setup !== undefined) await placeResult(setup.result, layout.workspaceDir);
      return ok({ paths: [] });
    },
  });
  if (!made.ok) return made;
  await mkdir(join(paths.validation, "etc"), { recursive: true });
  await writeAccounts(join(paths.validation, "etc"), spec.container);
  return ok(undefined);
}

/** Never over a tracked file: the branch may have added one of the same name. */
async function copyKeptOverlay(from: string, to: string): Promise<void> {
  if ((await lstat(from).catch(() => undefined)) === undefined) return;
  await cp(from, to, { recursive: true, force: false, verbatimSymlinks: true });
}

async function runCommands(
  services: RunServices,
  request: ValidationRequest,
  log: CommandLog,
): Promise<Result<Validation, Failure>> {
  const results: ValidationResult[] = [];
  for (const command of request.commands) {
    const { name, line } = command;
    if (services.signal.aborted || results.some((one) => one.outcome !== "passed")) {
      results.push({ name, line, outcome: "not-run", exitCode: null, durationMs: 0 });
      continue;
    }
    const result = await runCommand(services, request, { command, log });
    if (!result.ok) return result;
    results.push(result.value);
  }
  // A half validation says nothing about the tree.
  if (services.signal.aborted) return fail("interrupted", "The validation was interrupted.");
  const verdict = results.every((one) => one.outcome === "passed") ? "passed" : "failed";
  return ok({ tree: request.tree, verdict, results });
}

async function runCommand(
  services: RunServices,
  { spec }: ValidationRequest,
  { command, log }: { readonly command: ValidationCommand; readonly log: CommandLog },
): Promise<Result<ValidationResult, Failure>> {
  const { engine } = services;
  const container = validationSpec(spec, services.paths, command.line);
  const removed = await engine.remove(container.name);
  if (!removed.ok) return removed;
  const start = performance.now();
  const output = log.begin(`== ${command.name}: ${command.line}\n`);
  using clocks = startClocks(
    { wallMs: command.limitMs, idleMs: Number.POSITIVE_INFINITY },
    { signal: services.signal, onLimit: (signal) => void engine.signal(container.name, signal) },
  );
  const end = await engine.run(container, { onOutput: output.add }, {});
  await output.end();
  const limit = clocks.reached();
  if (!end.ok && limit === undefined) return end;
  const gone = await proveGone(services, container.name);
  if (!gone.ok) return gone;
  const exitCode = end.ok ? end.value.exitCode : null;
  const durationMs = Math.round(performance.now() - start);
  return ok({
    name: command.name,
    line: command.line,
    exitCode,
    durationMs,
    outcome: outcomeOf(end, limit),
  });
}

function outcomeOf(
  end: Awaited<ReturnType<RunServices["engine"]["run"]>>,
  limit: string | undefined,
): ValidationResult["outcome"] {
  if (limit !== undefined || !end.ok) return "timed-out";
  if (end.value.exitCode === 0) return "passed";
  return end.value.outOfMemory ? "out-of-memory" : "failed";
}
