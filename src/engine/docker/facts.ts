import { z } from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { DOCKER_SETUP } from "../../core/run-spec.ts";
import { type EngineClient, engineFailure, parseJson } from "../client.ts";
import type { EngineFacts } from "../port.ts";
import { notTried } from "../tried-runtimes.ts";

const INFO = z.object({
  ServerVersion: z.string().optional(),
  OSType: z.string().optional(),
  NCPU: z.number().int().positive().optional(),
  MemTotal: z.number().positive().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  ServerErrors: z.array(z.string()).nullish(),
  DefaultRuntime: z.string().optional(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
  /** Only Podman has it: a `docker` on PATH that is Podman under another name. */
  host: z.unknown().optional(),
});

/** Asks the engine what it is, and refuses set-ups whose posture has not been proven. */
export async function probeDocker(
  client: EngineClient,
  runtime: string,
): Promise<Result<EngineFacts, Failure>> {
  const exit = await client.call(["info", "--format", "{{json .}}"]);
  if (!exit.ok) return exit;
  const info = INFO.safeParse(parseJson(exit.value.stdout));
  // The client prints its own half with status 0 or 1 even where no server answers.
  const serverError = info.data?.ServerErrors?.[0];
  if (exit.value.code !== 0 || !info.success || serverError !== undefined)
    return serverError === undefined
      ? err(engineFailure("docker", "describe itself", exit.value))
      : fail("engine-unavailable", `Docker does not answer: ${serverError}`);
  if (info.data.host !== undefined)
    return fail("engine-unavailable", `${client.program} is Podman under the name of Docker.`, {
      cure: "Pass --engine podman, or install Docker.",
    });
  const judged = judge(info.data);
  return judged.ok ? withRuntime(info.data, runtime) : judged;
}

function judge(info: z.infer<typeof INFO>): Result<void, Failure> {
  const security = (info.SecurityOptions ?? []).join(" ");
  if (info.OSType !== "linux")
    return fail(
      "engine-unsupported",
      `The engine runs ${info.OSType ?? "unknown"} containers, not Linux ones.`,
    );
  if (security.includes("name=rootless"))
    return fail(
      "engine-unsupported",
      "Rootless Docker is not supported yet: file ownership in it was never tested.",
    );
  if (security.includes("name=userns"))
    return fail(
      "engine-unsupported",
      "Docker with userns-remap is not supported yet: file ownership in it was never tested.",
    );
  if (!security.includes("name=seccomp"))
    return fail(
      "engine-unsupported",
      "The engine has no seccomp filter, so the container posture cannot be kept.",
    );
  return ok(undefined);
}

function withRuntime(info: z.infer<typeof INFO>, runtime: string): Result<EngineFacts, Failure> {
  const known = Object.keys(info.Runtimes ?? {}).toSorted();
  if (runtime !== "" && !known.includes(runtime))
    return fail("engine-unsupported", `Docker has no runtime ${runtime}.`, {
      cure: `Name one that it has (${known.join(", ")}), or add it to Docker's daemon.json; see docs/engines.md.`,
    });
  const inForce = runtime === "" ? (info.DefaultRuntime ?? "unknown") : runtime;
  return ok({
    kind: "docker",
    version: info.ServerVersion ?? "unknown",
    rights: "rootful",
    runtime: inForce,
    setup: { ...DOCKER_SETUP, runtime },
    limits: "kept",
    otherRuntime: undefined,
    notes: notTried(inForce),
    cpus: info.NCPU ?? 1,
    memoryBytes: info.MemTotal ?? 0,
  });
}
