import { lstatSync } from "node:fs";
import { cp, lstat, mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type {
  RunSpec,
  Validation,
  ValidationCommand,
  ValidationResult,
} from "../../core/run-spec.ts";
import { startClocks } from "../container/clocks.ts";
import { inContainerSlot } from "../container/host-slots.ts";
import { validationPlaces, validationSpec } from "../container/container.ts";
import { openerOf, removeOverlayWork, renewOverlayWork } from "../container/overlay-work.ts";
import type { Layers } from "../layers/layers.ts";
import { type CommandLog, commandLog } from "../logs/command-log.ts";
import { removeLater } from "../house/remove-later.ts";
import type { RunServices } from "../services.ts";
import { ensureSetup } from "../setup/ensure-setup.ts";
import { placeResult } from "../setup/place-result.ts";
import { proveGone } from "../stages/collect.ts";
import { makeThrowaway, writeAccounts } from "../snapshot/throwaway.ts";
import { type WorkTree, seenAt } from "../snapshot/work-tree.ts";

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
      runCommands(services, request, { layers: ready.value, log }),
    );
  } finally {
    const { overlayWork } = validationPlaces(services.paths);
    const opener = () => openerOf(request.spec, services.paths);
    await removeOverlayWork(services.engine, overlayWork, opener);
    await removeLater(services, [services.paths.validation]);
  }
}

async function makeWorkspace(
  services: RunServices,
  { spec, head }: ValidationRequest,
): Promise<Result<Layers, Failure>> {
  const { paths } = services;
  const ready = await ensureSetup(services, spec);
  if (!ready.ok) return ready;
  const setup = ready.value;
  const at = (name: string): string => join(paths.validation, name);
  const made = await makeThrowaway(services, {
    places: { ...validationPlaces(paths), store: at("base.git"), index: at("index") },
    base: head,
    kept: spec.principalHead,
    branch: spec.branch,
    owner: spec.container,
    method: spec.snapshot?.method ?? "copy",
    addUntracked: async (tree) => {
      await copyKeptOverlay(paths.overlay, tree);
      const placed = setup && (await placeResult(setup.result, tree, spec.container));
      return ok({ paths: [], under: placed?.under ?? [] });
    },
  });
  if (!made.ok) return made;
  await mkdir(join(paths.validation, "etc"), { recursive: true });
  await writeAccounts(join(paths.validation, "etc"), spec.container);
  return ok(made.value.layers);
}

/** Never over a tracked file: the branch may have added one of the same name. */
async function copyKeptOverlay(from: string, to: WorkTree): Promise<void> {
  if ((await lstat(from).catch(() => undefined)) === undefined) return;
  await cp(from, to.top, {
    recursive: true,
    force: false,
    verbatimSymlinks: true,
    filter(source) {
      const there = seenAt(to, relative(from, source));
      return there === "nothing" || (there === "directory" && lstatSync(source).isDirectory());
    },
  });
}

async function runCommands(
  services: RunServices,
  request: ValidationRequest,
  at: { readonly layers: Layers; readonly log: CommandLog },
): Promise<Result<Validation, Failure>> {
  const results: ValidationResult[] = [];
  for (const command of request.commands) {
    const { name, line } = command;
    if (services.signal.aborted || results.some((one) => one.outcome !== "passed")) {
      results.push({ name, line, outcome: "not-run", exitCode: null, durationMs: 0 });
      continue;
    }
    const result = await runCommand(services, request, { command, ...at });
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
  {
    command,
    layers,
    log,
  }: {
    readonly command: ValidationCommand;
    readonly layers: Layers;
    readonly log: CommandLog;
  },
): Promise<Result<ValidationResult, Failure>> {
  const { engine } = services;
  const container = validationSpec(spec, services.paths, { layers, line: command.line });
  const removed = await engine.remove(container.name);
  if (!removed.ok) return removed;
  const renewed = await renewOverlayWork(engine, container, () => openerOf(spec, services.paths));
  if (!renewed.ok) return renewed;
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
  const gone = await proveGone(services, container.name, end.ok ? end.value.gone : undefined);
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
