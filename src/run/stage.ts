import type { Failure } from "../core/failures.ts";
import type { Result } from "../core/result.ts";
import type { StageName } from "../core/stage-name.ts";
import type { RunServices } from "./services.ts";

/**
 * One step of the flow. Its intent is on disk before `perform`, so after a crash it may run again: what it makes is
 * deterministic and making it twice is making it once.
 *
 * @typeParam In what the stages before have established; a stage in the wrong place does not compile.
 * @typeParam Out what this one adds; kept in the journal, so it is plain JSON.
 */
export interface Stage<In, Out> {
  readonly name: StageName;
  perform(services: RunServices, input: In): Promise<Result<Out, Failure>>;
  /** Asks git, the engine and the disk, not our notes, whether anything of this stage is there. */
  observe(services: RunServices, input: In): Promise<Result<"present" | "absent", Failure>>;
  /** Puts back what `perform` changed. May be called twice, and when `perform` never ran. */
  undo(services: RunServices, input: In): Promise<Result<void, Failure>>;
}
