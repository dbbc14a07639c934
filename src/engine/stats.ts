import { type Failure, fail } from "../core/failures.ts";
import { type Result, err, ok } from "../core/result.ts";
import { ENGINE_NAMES, type EngineClient, engineFailure } from "./client.ts";
import type { ContainerStats } from "./port.ts";

/** What an engine prints of a container for people: `12.34%`, and `1.5GiB / 4GiB`. */
export interface PrintedStats {
  readonly cpu: string;
  readonly memory: string;
}

/** How one command line is asked, and how its answer is read. */
export interface StatsWords {
  /** Arguments before the container's name. */
  readonly ask: readonly string[];
  /** Undefined when the answer cannot be read. */
  readonly read: (stdout: Buffer) => PrintedStats | undefined;
  /** What the client says of a container that is not there, or not any more. */
  readonly absent: RegExp;
}

/** Docker counts in 1024, Podman in 1000; each says so by its units. */
const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** Asks once; the engine itself takes a second or two to measure. */
export async function containerStats(
  client: EngineClient,
  words: StatsWords,
  name: string,
): Promise<Result<ContainerStats | undefined, Failure>> {
  const exit = await client.call([...words.ask, name]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0)
    return words.absent.test(exit.value.stderr.toString("utf8"))
      ? ok(undefined)
      : err(engineFailure(client.kind, `measure the container ${name}`, exit.value));
  const printed = words.read(exit.value.stdout);
  const measured = printed && measure(printed);
  if (measured !== undefined) return ok(measured);
  const engine = ENGINE_NAMES[client.kind];
  return fail(
    "container-failed",
    `${engine}'s statistics of the container ${name} cannot be read.`,
  );
}

/** A container that is just ending has dashes there. */
function measure({ cpu, memory }: PrintedStats): ContainerStats | undefined {
  const cpuPercent = Number.parseFloat(cpu);
  const [used, limit] = memory.split("/").map((text) => bytesOf(text.trim()));
  if (!Number.isFinite(cpuPercent) || used === undefined || limit === undefined) return undefined;
  return { cpuPercent, memoryBytes: used, memoryLimitBytes: limit };
}

function bytesOf(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = UNIT_BYTES[unit];
  return factor === undefined ? undefined : Math.round(Number(digits) * factor);
}
