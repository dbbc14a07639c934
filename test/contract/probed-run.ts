import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agreed } from "../../src/selftest/agreed.ts";
import type { Found } from "../../src/selftest/probe/found.ts";
import { GOOD_AGENT, type World, runsOf } from "../rig/world.ts";

/** The probe as one file that any Node from 18 on runs, as it is built and packed. */
export function bundledProbe(): string {
  return readFileSync(join(import.meta.dirname, "../../dist/selftest/probe.mjs"), "utf8");
}

export interface Probed {
  readonly posture: Found;
  readonly agreed: Agreed & { readonly runId: string };
  /** The argv in the run's record. */
  readonly argv: readonly string[];
  readonly runId: string;
}

/** A whole run whose agent is the probe; what it finds comes back as a file on the agent branch. */
export async function probeByRun(world: World): Promise<Probed> {
  world.write("probe.mjs", bundledProbe());
  world.write(".env", "SECRET=1\n");
  world.write(".gitignore", ".env\n");
  world.commit("A probe");
  const ended = await world.run(`node probe.mjs posture.json\n${GOOD_AGENT}`, [], {
    env: { SECRET_OF_MINE: "s3cr3t" },
  });
  if (ended.code !== 0) throw new Error(ended.stderr);
  const [run] = await runsOf(world);
  const runId = run?.id ?? "";
  const record = join(world.state, "runs", runId);
  const text = world.git("show", `${run?.branch}:posture.json`);
  const spec = JSON.parse(readFileSync(join(record, "spec.json"), "utf8"));
  const container = JSON.parse(readFileSync(join(record, "container.json"), "utf8"));
  const posture = JSON.parse(text) as Found;
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
