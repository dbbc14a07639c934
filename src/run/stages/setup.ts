import { lstat } from "node:fs/promises";
import type { RunSpec } from "../../core/run-spec.ts";
import { failure } from "../../core/failures.ts";
import { err, ok } from "../../core/result.ts";
import { removeLater } from "../house/remove-later.ts";
import { ensureSetup } from "../setup/ensure-setup.ts";
import type { Stage } from "../stage.ts";
import { removeContainers } from "./agent.ts";

export interface SetUp {
  /** Missing in a run without setup commands, which has no such stage. */
  readonly setup?: {
    readonly how: "made" | "reused";
    readonly key: string;
    readonly files: number;
    readonly bytes: number;
  };
}

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
}

/** Gets what the setup commands make: their kept result, or by running them, before anything of the agent is there. */
export const setupStage: Stage<Input, SetUp> = {
  name: "setup",
  async perform(services, { runId, spec }) {
    const ready = await ensureSetup(services, spec);
    if (!ready.ok)
      return ready.error.code === "snapshot-failed"
        ? err(failure("setup-failed", ready.error.message, ready.error))
        : ready;
    if (ready.value === undefined) return ok({});
    const { how, result } = ready.value;
    const { key, files, bytes, madeAt, leftOut } = result.manifest;
    if (how === "reused") {
      const text = `Setup: the result of ${madeAt.slice(0, 16).replace("T", " ")} UTC is used again (${files} files).`;
      services.report({ type: "notice", runId, text });
    } else if (leftOut.total > 0) {
      const [first] = leftOut.some;
      const text = `Setup: ${leftOut.total} of what the commands left cannot be kept, for example ${first?.path ?? ""} (${first?.why ?? ""}).`;
      services.report({ type: "notice", runId, text });
    }
    return ok({ setup: { how, key, files, bytes } });
  },
  async observe(services) {
    const there = await lstat(services.paths.setup).catch(() => undefined);
    return ok(there === undefined ? "absent" : "present");
  },
  // A finished result stays: it is no run's own.
  async undo(services, { runId }) {
    await removeLater(services, [services.paths.setup]);
    return removeContainers(services, runId);
  },
};
