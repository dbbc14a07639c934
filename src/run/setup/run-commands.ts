import { type Failure, fail } from "../../core/failures.ts";
import type { EgressEntry } from "../../core/egress.ts";
import { type Result, ok } from "../../core/result.ts";
import type { RunSpec, SetupSpec } from "../../core/run-spec.ts";
import { visible } from "../../core/visible.ts";
import { type Clock, startClocks } from "../container/clocks.ts";
import { firstDiskUse, watchDisk } from "../container/disk-watch.ts";
import { egressLog } from "../egress/egress-log.ts";
import { openProxy } from "../egress/host-proxy.ts";
import type { Layers } from "../layers/layers.ts";
import { commandLog } from "../logs/command-log.ts";
import { redactorInUse } from "../logs/redactions-in-use.ts";
import { isAllowed } from "../../gateway/proxy/host-rules.ts";
import type { RunServices } from "../services.ts";
import { minutes } from "../stages/agent.ts";
import { proveGone } from "../stages/collect.ts";
import { placeOf } from "./setup-place.ts";
import { setupContainer, setupWorkspace } from "./setup-container.ts";
import { setupOutput } from "./setup-output.ts";

const SHOWN_HOSTS = 5;

/**
 * Runs the setup commands over their work tree, in one container with nothing but the proxy to its hosts. What ended it and
 * with which status is the engine's word.
 *
 * @returns `setup-failed` with the command, its status and last lines, and the hosts that were refused to it.
 */
export async function runSetupCommands(
  services: RunServices,
  spec: RunSpec,
  { setup, layers }: { readonly setup: SetupSpec; readonly layers: Layers },
): Promise<Result<void, Failure>> {
  const { runId } = spec;
  const redactor = await redactorInUse(services, spec);
  await using egress = egressLog(services, runId, redactor);
  const refused = new Set<string>();
  const { allowHosts } = setup;
  let unsafe: string | undefined;
  const onEntry = (entry: EgressEntry): void => {
    // A host that the rules allow was refused for something else, which the reason says.
    const isRule = !isAllowed(entry.host, allowHosts);
    if (entry.outcome === "refused" && isRule && entry.status !== 200)
      refused.add(visible(entry.host, "one-line"));
    else if (entry.outcome === "refused")
      unsafe ??= visible(entry.reason ?? entry.host, "one-line");
    egress.add(entry);
  };
  const opened = await openProxy(services, { runId, phase: "setup", allowHosts, onEntry });
  if (!opened.ok) return opened;
  await using proxy = opened.value;
  const ended = await runContainer(services, spec, {
    setup,
    layers,
    socketPath: proxy.socketPath,
  });
  if (!ended.ok) return ended;
  if (ended.value.kind === "done") return ok(undefined);
  return refuse(ended.value, { setup, spec, refused: [...refused], unsafe });
}

type Ended =
  | { readonly kind: "done" }
  | {
      readonly kind: "failed";
      readonly clock: Clock | undefined;
      readonly exitCode: number;
      readonly outOfMemory: boolean;
      /** From 1; 0 when none had begun. */
      readonly command: number;
      readonly lastLines: readonly string[];
    };

async function runContainer(
  services: RunServices,
  spec: RunSpec,
  at: { readonly setup: SetupSpec; readonly layers: Layers; readonly socketPath: string },
): Promise<Result<Ended, Failure>> {
  const { engine, paths } = services;
  const { setup } = at;
  const container = setupContainer(spec, paths, at);
  const removed = await engine.remove(container.name);
  if (!removed.ok) return removed;
  await using log = await commandLog(services, spec, { path: paths.setupLog, of: "setup" });
  const written = log.begin("");
  const output = setupOutput(setup.commands.length, (number) => {
    const text = `Setup ${number} of ${setup.commands.length}: ${setup.commands[number - 1] ?? ""}`;
    services.report({ type: "notice", runId: spec.runId, text });
  });
  const writable = { workspace: setupWorkspace(paths), outbox: placeOf(paths, spec).caches };
  using clocks = startClocks(
    { wallMs: setup.limitMs, idleMs: Number.POSITIVE_INFINITY },
    { signal: services.signal, onLimit: (signal) => void engine.signal(container.name, signal) },
  );
  using disk = watchDisk(writable, {
    first: await firstDiskUse(writable),
    limits: spec.limits,
    onOver: () => clocks.end("disk-limit"),
  });
  const end = await engine.run(
    container,
    {
      onOutput(stream, chunk) {
        written.add(stream, chunk);
        output.add(stream, chunk);
      },
    },
    {},
  );
  disk[Symbol.dispose]();
  await written.end();
  const gone = await proveGone(services, container.name, end.ok ? end.value.gone : undefined);
  if (!gone.ok) return gone;
  const clock = clocks.reached();
  if (!end.ok && clock === undefined) return end;
  const exitCode = end.ok ? end.value.exitCode : -1;
  if (clock === undefined && exitCode === 0) return ok({ kind: "done" });
  const outOfMemory = end.ok && end.value.outOfMemory;
  return ok({ kind: "failed", clock, exitCode, outOfMemory, ...output.end() });
}

function refuse(
  ended: Extract<Ended, { readonly kind: "failed" }>,
  at: {
    readonly setup: SetupSpec;
    readonly spec: RunSpec;
    readonly refused: readonly string[];
    /** The first sentence about an allowed host that was refused all the same. */
    readonly unsafe: string | undefined;
  },
): Result<never, Failure> {
  if (ended.clock === "interrupted")
    return fail("interrupted", "The run was interrupted while the setup commands ran.");
  const { setup, refused } = at;
  const { command, lastLines } = ended;
  const line = setup.commands[command - 1];
  const which =
    line === undefined
      ? "The container of the setup commands"
      : `Setup command ${command} of ${setup.commands.length} (${line})`;
  const more = refused.length > SHOWN_HOSTS ? ` and ${refused.length - SHOWN_HOSTS} more` : "";
  const hosts =
    refused.length === 0
      ? ""
      : ` The commands were refused ${refused.slice(0, SHOWN_HOSTS).join(", ")}${more}: add what they need to setup.allow_hosts.`;
  const other = at.unsafe === undefined ? "" : ` ${at.unsafe}`;
  return fail("setup-failed", `${which} ${howItEnded(ended, at)}.${hosts}${other}`, {
    cure: "Read `guardloop logs RUN --setup`, then correct setup.commands or setup.allow_hosts.",
    details: lastLines,
  });
}

function howItEnded(
  { clock, exitCode, outOfMemory }: Extract<Ended, { readonly kind: "failed" }>,
  { setup, spec }: { readonly setup: SetupSpec; readonly spec: RunSpec },
): string {
  if (clock === "disk-limit")
    return "was ended because the setup commands wrote more than limits.disk or limits.files allow";
  if (clock !== undefined)
    return `was ended because the setup commands took longer than ${minutes(setup.limitMs)} (setup.minutes)`;
  if (outOfMemory)
    return `was ended at its memory limit of ${Math.round(spec.container.memoryBytes / 2 ** 20)} MiB`;
  return `ended with status ${exitCode}`;
}
