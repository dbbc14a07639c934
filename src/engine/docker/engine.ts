import { z } from "zod";
import { type EngineClient, parseJson } from "../client.ts";
import { type Listed, type Words, commandLineEngine } from "../command-line.ts";
import type { Engine } from "../port.ts";
import type { PrintedStats } from "../stats.ts";
import { probeDocker } from "./facts.ts";

const WORDS: Words = {
  nameFilter: (name) => `^/${name}$`,
  // With its volumes: an overlay is one.
  remove: ["rm", "--force", "--volumes"],
  absent: /no such container|is not running|already in progress/i,
  follow: (name, since) => ["logs", "--follow", `--since=${since}`, name],
  listFormat: '{{.Names}}\t{{.Label "guardloop.run"}}',
  readList,
  notStarted: /^docker: |^(?:Run|See) 'docker run --help'/m,
  lost: /^(?:docker: |time=\S+ level=error msg=")(?:error waiting for container|error during connect)/m,
  startEvents: ["--filter=event=start", "--format={{json .Action}}"],
  memoryEvents: ["--filter=event=oom", "--format={{json .Action}}"],
  showMemoryLimit: (stdout) => parseJson(firstLine(stdout)) === "oom",
  stats: ["stats", "--no-stream", "--format={{json .}}"],
  readStats,
};

/** @param runtime a runtime that the server knows; empty for its default. */
export function dockerEngine(client: EngineClient, runtime: string, now: () => Date): Engine {
  return commandLineEngine({
    client,
    words: WORDS,
    now,
    probe: () => probeDocker(client, runtime),
  });
}

function readList(stdout: Buffer): readonly Listed[] | undefined {
  const rows = stdout
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const found = rows.map((row) => row.split("\t"));
  if (found.some((fields) => fields.length !== 2)) return undefined;
  return found.map(([name = "", runId = ""]) => ({ name, runId }));
}

/** As `docker stats --format '{{json .}}'` prints it: every value is text for people. */
const STATS = z.object({ CPUPerc: z.string(), MemUsage: z.string() });

function readStats(stdout: Buffer): PrintedStats | undefined {
  const stats = STATS.safeParse(parseJson(stdout)).data;
  return stats && { cpu: stats.CPUPerc, memory: stats.MemUsage };
}

function firstLine(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0x0a);
  return end === -1 ? bytes : bytes.subarray(0, end);
}
