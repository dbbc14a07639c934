import type { PlanDiagnostic, PlanFile } from "./task.ts";

/**
 * A plan may come from a branch that an agent wrote, so what parsing costs is bounded: the Markdown parser needs
 * more than linear time for long sections and for deep nesting.
 */
export const PLAN_LIMITS = {
  fileBytes: 1024 * 1024,
  totalBytes: 4 * 1024 * 1024,
  files: 500,
  /** Of one stretch between two headings that can be parsed alone. */
  sectionChars: 64 * 1024,
  nesting: 40,
  indentColumns: 120,
  frontMatterChars: 32 * 1024,
} as const;

/** The files within the limits, in their order, and a diagnostic for every one left out. */
export function withinLimits(files: readonly PlanFile[]): {
  readonly files: readonly PlanFile[];
  readonly diagnostics: readonly PlanDiagnostic[];
} {
  const kept: PlanFile[] = [];
  const diagnostics: PlanDiagnostic[] = [];
  let totalBytes = 0;
  for (const file of files) {
    const sizeBytes = Buffer.byteLength(file.text);
    const problem = overLimit(sizeBytes, { files: kept.length, totalBytes });
    if (problem === null) {
      kept.push(file);
      totalBytes += sizeBytes;
    } else {
      diagnostics.push({ message: problem, position: { file: file.path, line: 1 } });
    }
  }
  return { files: kept, diagnostics };
}

function overLimit(
  sizeBytes: number,
  soFar: { readonly files: number; readonly totalBytes: number },
): string | null {
  if (sizeBytes > PLAN_LIMITS.fileBytes) {
    return `This plan file has ${sizeBytes} bytes and is not read: the limit is ${PLAN_LIMITS.fileBytes}. Split it.`;
  }
  if (soFar.files >= PLAN_LIMITS.files) {
    return `This plan file is not read: a plan may have ${PLAN_LIMITS.files} files. Name fewer with --plan.`;
  }
  if (soFar.totalBytes + sizeBytes > PLAN_LIMITS.totalBytes) {
    return `This plan file is not read: the files of a plan may have ${PLAN_LIMITS.totalBytes} bytes together. Name fewer with --plan.`;
  }
  return null;
}
