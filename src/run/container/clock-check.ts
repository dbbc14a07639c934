import type { Failure } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Engine } from "../../engine/port.ts";
import { type CheckedImage, checkingSpec } from "./image-check.ts";

/**
 * How far a container's clock is from the host's, in milliseconds; positive where it is ahead. An engine in a virtual
 * machine has a clock of its own, which falls behind while the machine sleeps. The time that the container takes to
 * start is not counted as a difference.
 *
 * @returns undefined when the container did not say a time.
 */
export async function containerClockAheadMs(
  engine: Engine,
  at: { readonly image: CheckedImage; readonly stateDir: string; readonly now: () => Date },
): Promise<Result<number | undefined, Failure>> {
  const spec = checkingSpec({
    purpose: "clock-check",
    image: at.image,
    stateDir: at.stateDir,
    script: "console.log(Date.now())",
  });
  const chunks: Buffer[] = [];
  const before = at.now().getTime();
  const end = await engine.run(
    spec,
    { onOutput: (stream, chunk) => stream === "stdout" && chunks.push(chunk) },
    {},
  );
  const after = at.now().getTime();
  if (!end.ok) return end;
  const said = Buffer.concat(chunks).toString("utf8").trim();
  if (!/^\d{12,15}$/.test(said)) return ok(undefined);
  const there = Number(said);
  if (there < before) return ok(there - before);
  return ok(Math.max(0, there - after));
}
