import { z } from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { EngineFacts, ImageFacts } from "../port.ts";
import { type DockerClient, engineFailure } from "./client.ts";

const INFO = z.object({
  ServerVersion: z.string().optional(),
  OSType: z.string().optional(),
  NCPU: z.number().int().positive().optional(),
  MemTotal: z.number().positive().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  ServerErrors: z.array(z.string()).nullish(),
});

/** Asks the engine what it is, and refuses set-ups whose posture has not been proven. */
export async function probeDocker(docker: DockerClient): Promise<Result<EngineFacts, Failure>> {
  const exit = await docker(["info", "--format", "{{json .}}"]);
  if (!exit.ok) return exit;
  const info = INFO.safeParse(parseJson(exit.value.stdout));
  // The client prints its own half with status 0 or 1 even where no server answers.
  const serverError = info.data?.ServerErrors?.[0];
  if (exit.value.code !== 0 || !info.success || serverError !== undefined)
    return serverError === undefined
      ? err(engineFailure("describe itself", exit.value))
      : fail("engine-unavailable", `Docker does not answer: ${serverError}`);
  return judge(info.data);
}

function judge(info: z.infer<typeof INFO>): Result<EngineFacts, Failure> {
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
  return ok({
    kind: "docker",
    version: info.ServerVersion ?? "unknown",
    cpus: info.NCPU ?? 1,
    memoryBytes: info.MemTotal ?? 0,
  });
}

const IMAGE = z.object({
  Id: z.string(),
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});

export async function inspectImage(
  docker: DockerClient,
  name: string,
): Promise<Result<ImageFacts | undefined, Failure>> {
  const exit = await docker(["image", "inspect", "--format", "{{json .}}", name]);
  if (!exit.ok) return exit;
  if (exit.value.code !== 0) {
    if (/no such image/i.test(exit.value.stderr.toString("utf8"))) return ok(undefined);
    return err(engineFailure(`look for the image ${name}`, exit.value));
  }
  const image = IMAGE.safeParse(parseJson(exit.value.stdout));
  if (!image.success)
    return fail("container-failed", `Docker's description of the image ${name} cannot be read.`);
  return ok({ id: image.data.Id, labels: image.data.Config?.Labels ?? {} });
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
