export type TaskField = "status" | "dependencies" | "acceptance";

/** The labels, as `labelName` writes them, under which plans keep what we read. */
export const FIELD_BY_LABEL: ReadonlyMap<string, TaskField> = new Map<string, TaskField>([
  ["status", "status"],
  ["dependencies", "dependencies"],
  ["dependency", "dependencies"],
  ["depends on", "dependencies"],
  ["dependson", "dependencies"],
  ["blocked by", "dependencies"],
  ["completion signal", "acceptance"],
  ["completion signals", "acceptance"],
  ["acceptance", "acceptance"],
  ["acceptance criteria", "acceptance"],
  ["acceptance criterion", "acceptance"],
  ["done when", "acceptance"],
  ["definition of done", "acceptance"],
]);
