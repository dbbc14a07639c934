import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { ContainerEnd, ContainerSpec, Engine } from "../../engine/port.ts";

/** What these containers do takes less than a second; the rest is for a machine that is busy. */
const LIMIT_MS = 60_000;

export interface BriefEnd {
  /** `late`: it was ended, or given up where the engine did not even do that. */
  readonly end: ContainerEnd | Failure | "late";
  readonly stdout: string;
}

/**
 * Runs a container that takes a moment, before there is a run whose clocks would end it.
 *
 * @returns `interrupted` when the signal came; the container is ended then.
 */
export async function runBriefly(
  engine: Engine,
  spec: ContainerSpec,
  signal: AbortSignal,
): Promise<Result<BriefEnd, Failure>> {
  let isLate = false;
  const kill = (): void => void engine.signal(spec.name, "KILL");
  const clock = setTimeout(() => {
    isLate = true;
    kill();
  }, LIMIT_MS);
  signal.addEventListener("abort", kill, { once: true });
  const chunks: Buffer[] = [];
  const end = await engine.run(
    spec,
    { onOutput: (stream, chunk) => stream === "stdout" && chunks.push(chunk) },
    {},
  );
  clearTimeout(clock);
  signal.removeEventListener("abort", kill);
  if (isLate || signal.aborted) await engine.remove(spec.name);
  if (signal.aborted)
    return fail("interrupted", "Interrupted while it was tried how a snapshot gets its files.");
  const stdout = Buffer.concat(chunks).toString("utf8");
  if (isLate) return ok({ end: "late", stdout });
  return ok({ end: end.ok ? end.value : end.error, stdout });
}
