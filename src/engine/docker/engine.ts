import { type Failure, failure } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ContainerEnd, ContainerSpec, Engine } from "../port.ts";
import { runArguments } from "../posture.ts";
import { type DockerClient, engineFailure } from "./client.ts";
import { inspectImage, parseJson, probeDocker } from "./facts.ts";
import { dockerStats } from "./stats.ts";

/** Statuses with which the client says that the container itself never ran; see docker-run(1). */
const CLIENT_STATUSES: ReadonlySet<number> = new Set([125, 126, 127]);
/** The client's own deadline lies far beyond the run's clocks, which end the container, not the client. */
const CLIENT_DEADLINE_MS = 7 * 24 * 60 * 60_000;
/** Kept of the client's output for messages; the whole stream goes to the sink. */
const KEPT_BYTES = 64 * 1024;

export interface DockerOptions {
  readonly program: string;
  readonly docker: DockerClient;
  readonly now: () => Date;
}

/** Docker behind the engine port, through its command line. */
export function dockerEngine({ program, docker, now }: DockerOptions): Engine {
  return {
    probe: () => probeDocker(docker),
    image: (name) => inspectImage(docker, name),
    argv: (spec) => [program, ...runArguments(spec)],
    async run(spec, sink, environment) {
      const since = now();
      const exit = await docker(runArguments(spec), {
        deadlineMs: CLIENT_DEADLINE_MS,
        maxOutputBytes: KEPT_BYTES,
        extraEnv: environment,
        onOutput: sink.onOutput,
      });
      if (!exit.ok) return midRun(exit);
      const code = exit.value.code;
      if (code === null || CLIENT_STATUSES.has(code))
        return midRun(err(engineFailure(`run the container ${spec.name}`, exit.value)));
      return ending(docker, { spec, since, exitCode: code, until: now() });
    },
    async signal(name, signal) {
      const exit = await docker(["kill", `--signal=${signal}`, name]);
      return absentIsFine(exit, `signal the container ${name}`);
    },
    async exists(name) {
      const exit = await docker([
        "ps",
        "-a",
        "--filter",
        `name=^/${name}$`,
        "--format",
        "{{.Names}}",
      ]);
      if (!exit.ok) return midRun(exit);
      if (exit.value.code !== 0)
        return midRun(err(engineFailure(`look for the container ${name}`, exit.value)));
      return ok(exit.value.stdout.toString("utf8").split("\n").includes(name));
    },
    async remove(name) {
      const exit = await docker(["rm", "--force", name]);
      return absentIsFine(exit, `remove the container ${name}`);
    },
    stats: (name) => dockerStats(docker, name),
    list: (stateId) => listOurs(docker, stateId),
  };
}

interface Ended {
  readonly spec: ContainerSpec;
  readonly since: Date;
  readonly until: Date;
  readonly exitCode: number;
}

/** Out of memory is read from the engine's events: with `--rm` there is nothing left to inspect. */
async function ending(docker: DockerClient, ended: Ended): Promise<Result<ContainerEnd, Failure>> {
  const exit = await docker([
    "events",
    `--since=${unixSeconds(ended.since)}`,
    `--until=${unixSeconds(ended.until)}`,
    `--filter=container=${ended.spec.name}`,
    "--filter=event=oom",
    "--format={{json .Action}}",
  ]);
  const outOfMemory =
    exit.ok && exit.value.code === 0 && parseJson(firstLine(exit.value.stdout)) === "oom";
  return ok({ exitCode: ended.exitCode, outOfMemory });
}

function unixSeconds(date: Date): string {
  return (date.getTime() / 1000).toFixed(3);
}

function firstLine(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0x0a);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

function absentIsFine(
  exit: Awaited<ReturnType<DockerClient>>,
  what: string,
): Result<void, Failure> {
  if (!exit.ok) return midRun(exit);
  if (exit.value.code === 0) return ok(undefined);
  const said = exit.value.stderr.toString("utf8");
  if (/no such container|is not running|already in progress/i.test(said)) return ok(undefined);
  return midRun(err(engineFailure(what, exit.value)));
}

/** `engine-unavailable` is a refusal before anything was created; an engine that goes away later fails the run. */
function midRun({ error }: { readonly error: Failure }): Result<never, Failure> {
  return err({ ...error, code: "container-failed" });
}

async function listOurs(
  docker: DockerClient,
  stateId: string,
): Promise<Result<readonly { name: string; runId: string }[], Failure>> {
  const exit = await docker([
    "ps",
    "-a",
    "--filter=label=guardloop.run",
    `--filter=label=guardloop.state=${stateId}`,
    '--format={{.Names}}\t{{.Label "guardloop.run"}}',
  ]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) return err(engineFailure("list containers", exit.value));
  const rows = exit.value.stdout
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const found = rows.map((row) => row.split("\t"));
  if (found.some((fields) => fields.length !== 2))
    return err(failure("container-failed", "Docker's list of containers cannot be read."));
  return ok(found.map(([name, runId]) => ({ name: name ?? "", runId: runId ?? "" })));
}
