import { z } from "zod";
import { type EngineClient, parseJson } from "../client.ts";
import { type Listed, type Words, commandLineEngine } from "../command-line.ts";
import type { Engine } from "../port.ts";
import type { PrintedStats } from "../stats.ts";
import { type PodmanHost, probePodman } from "./facts.ts";

const WORDS: Words = {
  nameFilter: (name) => `^${name}$`,
  // Without the time it would ask politely first and wait ten seconds.
  remove: ["rm", "--force", "--time=0", "--volumes"],
  absent: /no such container|container state improper|can only kill running containers/i,
  // Podman is told to keep no output (see posture.ts), so what nobody read is lost.
  follow: (name) => ["attach", "--no-stdin", "--sig-proxy=false", name],
  listFormat: "json",
  readList,
  notStarted: /^Error: /m,
  // There is no server to lose.
  lost: /^Error: .*error waiting for container/m,
  startEvents: ["--stream=false", "--filter=event=start", "--format=json"],
  // Podman has no event of its own for the limit. Newer ones say it with the event of the container's end.
  memoryEvents: ["--stream=false", "--filter=event=died", "--format=json"],
  showMemoryLimit: (stdout) => eventsOf(stdout).some(isOutOfMemory),
  stats: ["stats", "--no-stream", "--format=json"],
  readStats,
};

export interface PodmanOptions {
  readonly client: EngineClient;
  /** Empty for Podman's default. */
  readonly runtime: string;
  readonly host: PodmanHost;
  readonly now: () => Date;
}

/** Podman behind the same port. It has no server: containers are children of the client's own helper, conmon. */
export function podmanEngine({ client, runtime, host, now }: PodmanOptions): Engine {
  return commandLineEngine({
    client,
    words: WORDS,
    now,
    probe: () => probePodman(client, { runtime, host }),
  });
}

const LIST = z.array(
  z.object({
    Names: z.array(z.string()).min(1),
    Labels: z.record(z.string(), z.string()),
  }),
);

function readList(stdout: Buffer): readonly Listed[] | undefined {
  const list = LIST.safeParse(parseJson(stdout));
  if (!list.success) return undefined;
  return list.data.map(({ Names: [name = ""], Labels }) => ({
    name,
    runId: Labels["guardloop.run"] ?? "",
  }));
}

/** As `podman stats --format=json` prints it: a list of what was asked for, every value as text for people. */
const STATS = z.array(z.object({ cpu_percent: z.string(), mem_usage: z.string() }));

function readStats(stdout: Buffer): PrintedStats | undefined {
  const [stats] = STATS.safeParse(parseJson(stdout)).data ?? [];
  return stats && { cpu: stats.cpu_percent, memory: stats.mem_usage };
}

/** Events come as one JSON object a line. */
function eventsOf(stdout: Buffer): readonly unknown[] {
  return stdout
    .toString("utf8")
    .split("\n")
    .map((line) => parseJson(Buffer.from(line)));
}

const DIED = z.object({ Attributes: z.object({ OOMKilled: z.string() }) });

function isOutOfMemory(event: unknown): boolean {
  const died = DIED.safeParse(event);
  return died.success && died.data.Attributes.OOMKilled === "true";
}
