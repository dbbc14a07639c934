import type { Output } from "../output/output.ts";
import type { Material } from "./material.ts";

/** The documented shape; see docs/json.md. */
export function printJson(output: Output, material: Material): void {
  const { run, title, acceptance, commits, changes, findings, diff } = material;
  const { id, state, task, branch, base, head } = run;
  output.json({
    version: 1,
    run: { id, state, task, branch, base, head },
    task: { id: task, title, acceptance },
    commits,
    files: changes.map((change) => ({
      path: change.path,
      status: change.status,
      oldMode: change.oldMode,
      newMode: change.newMode,
      addedLines: change.addedLines,
      deletedLines: change.deletedLines,
      content: change.content,
      sizeBytes: change.sizeBytes,
      linkTarget: change.linkTarget,
    })),
    validation: material.result,
    findings,
    diff,
  });
}
