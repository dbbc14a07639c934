import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { GOOD_AGENT, type World, runsOf } from "../rig/world.ts";
import type { Agreed } from "./expected-posture.ts";
import type { Posture } from "./posture-probe.ts";

const PROBE = join(import.meta.dirname, "posture-probe.ts");

/** The probe as one file that any Node from 18 on runs. */
export function bundledProbe(): string {
  const built = buildSync({
    entryPoints: [PROBE],
    bundle: true,
    platform: "node",
    target: "node18",
    format: "cjs",
    write: false,
  });
  return built.outputFiles[0]?.text ?? "";
}

export interface Probed {
  readonly posture: Posture;
  readonly agreed: Agreed;
  /** The argv in the run's record. */
  readonly argv: readonly string[];
  readonly runId: string;
}

/** A whole run whose agent is the probe; what it finds comes back as a file on the agent branch. */
export async function probeByRun(world: World): Promise<Probed> {
  world.write("probe.cjs", bundledProbe());
  world.write(".env", "SECRET=1\n");
  world.write(".gitignore", ".env\n");
  world.commit("A probe");
  const ended = await world.run(`node probe.cjs posture.json\n${GOOD_AGENT}`, [], {
    env: { SECRET_OF_MINE: "s3cr3t" },
  });
  if (ended.code !== 0) throw new Error(ended.stderr);
  const [run] = await runsOf(world);
  const runId = run?.id ?? "";
  const record = join(world.state, "runs", runId);
  const text = world.git("show", `${run?.branch}:posture.json`);
  const spec = JSON.parse(readFileSync(join(record, "spec.json"), "utf8"));
  const container = JSON.parse(readFileSync(join(record, "container.json"), "utf8"));
  const posture = JSON.parse(text) as Posture;
  const environment = { ...posture.environment };
  // The shell that started the probe adds these.
  for (const name of ["PWD", "OLDPWD", "SHLVL", "_"]) delete environment[name];
  return {
    runId,
    posture: { ...posture, environment },
    agreed: { ...spec.container, runId },
    argv: container.argv,
  };
}
