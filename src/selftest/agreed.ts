import type { RunSpec } from "../core/run-spec.ts";

/** What was agreed for one container; sizes in bytes. */
export type Agreed = RunSpec["container"];
