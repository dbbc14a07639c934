import { z } from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { EngineSetup } from "../../core/run-spec.ts";
import { type EngineClient, answerCure, parseJson } from "../client.ts";
import type { EngineFacts } from "../port.ts";
import { notTried } from "../tried-runtimes.ts";

/** What Podman's containers inherit from this process, since there is no server in between. */
export interface PodmanHost {
  /** Hard limits of this process; infinite where there is none. */
  readonly openFilesLimit: number;
  readonly processesLimit: number;
  /** Whether runc is on PATH: it starts containers on some hosts with old control groups where crun does not. */
  readonly hasRunc: boolean;
}

const INFO = z.object({
  host: z.object({
    os: z.string(),
    cpus: z.number().int().positive(),
    memTotal: z.number().positive(),
    cgroupVersion: z.string(),
    cgroupControllers: z.array(z.string()).nullish(),
    ociRuntime: z.object({ name: z.string() }),
    serviceIsRemote: z.boolean(),
    security: z.object({
      rootless: z.boolean(),
      seccompEnabled: z.boolean(),
      selinuxEnabled: z.boolean(),
    }),
  }),
  version: z.object({ Version: z.string() }),
});
type Info = z.infer<typeof INFO>;

/** `--read-only-tmpfs`, `--unsetenv` and `--tmpfs …:U` all work from here on. */
const OLDEST = [4, 3] as const;
/** As in every container; see DOCKER_SETUP. */
const OPEN_FILES = 16_384;
/** The number of processes that Linux itself allows by default: Podman's own default can be more than it may set. */
const PROCESSES = 32_768;
/** What the posture's limits need, by the kernel's names. */
const CONTROLLERS = ["memory", "pids", "cpu"] as const;

/** Asks Podman what it is, and refuses set-ups in which the posture cannot be kept. */
export async function probePodman(
  client: EngineClient,
  at: { readonly runtime: string; readonly host: PodmanHost },
): Promise<Result<EngineFacts, Failure>> {
  const exit = await client.call(["info", "--format", "json"]);
  if (!exit.ok) return exit;
  const said = exit.value.stderr.toString("utf8").trim();
  const unavailable = (why: string) =>
    fail("engine-unavailable", `Podman does not answer: ${why}`, {
      cure: answerCure("podman", { text: said }),
    });
  if (exit.value.code !== 0) return unavailable(said.split("\n").at(-1) ?? "");
  const info = INFO.safeParse(parseJson(exit.value.stdout));
  if (!info.success) return unavailable("its description of itself cannot be read.");
  const judged = judge(info.data);
  return judged.ok ? ok(factsOf(info.data, at)) : judged;
}

function refuse(message: string, cure?: string): Result<never, Failure> {
  return fail("engine-unsupported", message, cure === undefined ? {} : { cure });
}

function judge({ host, version }: Info): Result<void, Failure> {
  const [major = 0, minor = 0] = version.Version.split(".").map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    return refuse(
      `Podman ${version.Version} is too old for the container posture.`,
      `Install Podman ${OLDEST.join(".")} or newer.`,
    );
  if (host.serviceIsRemote)
    return refuse(
      "Podman on another machine, or in a virtual machine, is not supported: files go in and out by bind mounts.",
      "Unset CONTAINER_HOST and CONTAINER_CONNECTION, or use Docker.",
    );
  if (host.os !== "linux") return refuse(`Podman runs ${host.os} containers, not Linux ones.`);
  if (!host.security.seccompEnabled)
    return refuse("Podman has no seccomp filter, so the container posture cannot be kept.");
  if (host.security.selinuxEnabled)
    return refuse(
      "Podman with SELinux is not supported yet: whether its containers can read what is mounted was never tested.",
    );
  return host.security.rootless ? judgeRootless(host) : ok(undefined);
}

/** Without root, limits are kept only where the control groups have been handed to the user. */
function judgeRootless(host: Info["host"]): Result<void, Failure> {
  const missing = CONTROLLERS.filter((name) => host.cgroupControllers?.includes(name) !== true);
  if (missing.length === 0) return ok(undefined);
  return fail(
    "engine-unsupported",
    `Rootless Podman cannot limit ${missing.join(", ")} on this host (control groups ${host.cgroupVersion}), so the container posture cannot be kept.`,
    {
      cure: "Use Docker, run as root, or hand the controllers cpu, memory and pids to users (control groups v2 with systemd); see docs/engines.md.",
    },
  );
}

function factsOf(
  { host, version }: Info,
  at: { readonly runtime: string; readonly host: PodmanHost },
): EngineFacts {
  const runtime = at.runtime === "" ? host.ociRuntime.name : at.runtime;
  const { rootless } = host.security;
  const setup: EngineSetup = {
    runtime: at.runtime,
    userNamespace: rootless ? "keep-id" : "host",
    openFiles: Math.min(OPEN_FILES, at.host.openFilesLimit),
    processes: Math.min(PROCESSES, at.host.processesLimit),
  };
  return {
    kind: "podman",
    version: version.Version,
    rights: rootless ? "rootless" : "rootful",
    runtime,
    setup,
    limits: "unproven",
    otherRuntime: at.runtime === "" && runtime !== "runc" && at.host.hasRunc ? "runc" : undefined,
    notes: notTried(runtime),
    cpus: host.cpus,
    memoryBytes: host.memTotal,
  };
}
