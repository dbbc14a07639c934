import { ok } from "../../core/result.ts";
import type { RunSpec, Validation } from "../../core/run-spec.ts";
import { record } from "../drive.ts";
import { removeLater } from "../house/remove-later.ts";
import type { Stage } from "../stage.ts";
import { validate } from "../review/validation.ts";
import { removeContainers } from "./agent.ts";
import type { Imported } from "./import.ts";

export interface Validated {
  /** Null when the project names no validation commands. */
  readonly validation: Validation | null;
}

interface Input extends Imported {
  readonly runId: string;
  readonly spec: RunSpec;
}

/** Runs the project's own commands on the imported tree. A failed command does not fail the run: it blocks promotion. */
export const validateStage: Stage<Input, Validated> = {
  name: "validate",
  async perform(services, { spec, imported, runId }) {
    if (spec.validate.length === 0) return ok({ validation: null });
    const { head, tree } = imported;
    const done = await validate(services, { spec, head, tree, commands: spec.validate });
    if (!done.ok) return done;
    record(services, runId, { type: "validated", validation: done.value });
    return ok({ validation: done.value });
  },
  async observe(services, { runId, imported }) {
    const validation = services.history.run(runId)?.validations[imported.tree];
    return ok(validation === undefined ? "absent" : "present");
  },
  async undo(services, { runId }) {
    await removeLater(services, [services.paths.validation]);
    return removeContainers(services, runId);
  },
};
