import { z } from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { ContainerSpec, Engine, EngineFacts, ImageFacts } from "../../engine/port.ts";
import { checkingSpec } from "./image-check.ts";

/** Runs in the image; prints the limits in force, from control groups v1 or v2. */
const PROBE = `
const { readFileSync } = require("node:fs");
const read = (path) => { try { return readFileSync("/sys/fs/cgroup/" + path, "utf8").trim(); } catch { return "none"; } };
const share = (quota, period) => Number(quota) / Number(period);
const v2 = read("cgroup.controllers") !== "none";
console.log(JSON.stringify(v2
  ? { memory: read("memory.max"), pids: read("pids.max"), cpus: String(share(...read("cpu.max").split(" "))) }
  : { memory: read("memory/memory.limit_in_bytes"), pids: read("pids/pids.max"),
      cpus: String(share(read("cpu/cpu.cfs_quota_us"), read("cpu/cpu.cfs_period_us"))) }));
`;
const ANSWER = z.object({ memory: z.string(), pids: z.string(), cpus: z.string() });

interface Checked {
  readonly facts: EngineFacts;
  readonly image: { readonly name: string; readonly facts: ImageFacts };
}

/**
 * Starts a container with limits and compares those in force with those that were asked for, where the engine's own
 * description proves nothing: whether Podman can keep limits depends on rights, control groups and OCI runtime. Where
 * its default runtime cannot start a container at all, another one is tried, and said.
 *
 * @returns the facts, with what was found out in them; `engine-unsupported` when the posture cannot be kept.
 */
export async function proveLimits(
  engine: Engine,
  { facts, image }: Checked,
  stateDir: string,
): Promise<Result<EngineFacts, Failure>> {
  if (facts.limits === "kept") return ok(facts);
  const start = (setup: EngineFacts["setup"]) => startAndLook(engine, { image, setup, stateDir });
  const first = await start(facts.setup);
  if (first.ok) return judge(engine, facts, first.value);
  const { otherRuntime: runtime } = facts;
  if (runtime === undefined) return unsupported(first.error);
  const setup = { ...facts.setup, runtime };
  const second = await start(setup);
  if (!second.ok) return unsupported(first.error);
  const note = `${facts.runtime} cannot start containers here, so ${engine.name} is told to use ${runtime}: ${first.error.message}`;
  const changed = { ...facts, setup, runtime, notes: [...facts.notes, note] };
  return judge(engine, changed, second.value);
}

interface Started {
  readonly asked: ContainerSpec;
  readonly said: string;
}

async function startAndLook(
  engine: Engine,
  at: {
    readonly image: Checked["image"];
    readonly setup: EngineFacts["setup"];
    readonly stateDir: string;
  },
): Promise<Result<Started, Failure>> {
  const { image, setup, stateDir } = at;
  const asked = checkingSpec({
    purpose: "limits-check",
    image: { ...image, setup },
    stateDir,
    script: PROBE,
  });
  const chunks: Buffer[] = [];
  const end = await engine.run(
    asked,
    { onOutput: (stream, chunk) => stream === "stdout" && chunks.push(chunk) },
    {},
  );
  return end.ok ? ok({ asked, said: Buffer.concat(chunks).toString("utf8") }) : end;
}

function judge(
  engine: Engine,
  facts: EngineFacts,
  { asked, said }: Started,
): Result<EngineFacts, Failure> {
  const found = ANSWER.safeParse(parse(said));
  const wanted = {
    memory: String(asked.memoryBytes),
    pids: String(asked.pids),
    cpus: String(asked.cpus),
  };
  const differing = found.success
    ? (["memory", "pids", "cpus"] as const).filter((name) => found.data[name] !== wanted[name])
    : ["the limits cannot be seen from inside"];
  if (differing.length === 0) return ok({ ...facts, limits: "kept" });
  return fail(
    "engine-unsupported",
    `${engine.name} with the runtime ${facts.runtime} does not keep a container's limits here (${differing.join(", ")}), so the container posture cannot be kept.`,
  );
}

/** Nothing was begun yet, so this refuses the run instead of failing it. */
function unsupported(error: Failure): Result<never, Failure> {
  return fail("engine-unsupported", `The container posture cannot be kept: ${error.message}`, {
    details: error.details,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
