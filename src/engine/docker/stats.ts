import { z } from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ContainerStats } from "../port.ts";
import { type DockerClient, engineFailure } from "./client.ts";
import { parseJson } from "./facts.ts";

/** As `docker stats --format '{{json .}}'` prints it: every value is text for people. */
const STATS = z.object({ CPUPerc: z.string(), MemUsage: z.string() });

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
export async function dockerStats(
  docker: DockerClient,
  name: string,
): Promise<Result<ContainerStats | undefined, Failure>> {
  const exit = await docker(["stats", "--no-stream", "--format", "{{json .}}", name]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) {
    if (/no such container|is not running/i.test(exit.value.stderr.toString("utf8")))
      return ok(undefined);
    return err(engineFailure(`measure the container ${name}`, exit.value));
  }
  const stats = STATS.safeParse(parseJson(exit.value.stdout));
  const measured = stats.success ? measure(stats.data) : undefined;
  if (measured === undefined)
    return fail("container-failed", `Docker's statistics of the container ${name} cannot be read.`);
  return ok(measured);
}

/** `12.34%` and `1.5GiB / 4GiB`; a container that is just ending has dashes there. */
function measure(stats: z.infer<typeof STATS>): ContainerStats | undefined {
  const cpuPercent = Number.parseFloat(stats.CPUPerc);
  const [used, limit] = stats.MemUsage.split("/").map((text) => bytesOf(text.trim()));
  if (!Number.isFinite(cpuPercent) || used === undefined || limit === undefined) return undefined;
  return { cpuPercent, memoryBytes: used, memoryLimitBytes: limit };
}

function bytesOf(text: string): number | undefined {
  const [, digits = "", unit = ""] = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = UNIT_BYTES[unit];
  return factor === undefined ? undefined : Math.round(Number(digits) * factor);
}
