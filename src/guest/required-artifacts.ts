import { lstatSync } from "node:fs";
import { join } from "node:path";
import { ARTIFACT, type Manifest } from "../core/artifacts.ts";
import { LIMITS } from "../core/limits.ts";
import { agentsMessage } from "./own-commit.ts";
import { kindOf, readBounded, strictUtf8 } from "./read-file.ts";

/**
 * Looks for what a run must leave. The host checks again and more strictly; this gives the reason early, in the
 * run's own log.
 *
 * @returns one sentence for each artifact that is missing or bad.
 */
export function artifactProblems(artifacts: string, manifest: Manifest): readonly string[] {
  const patches = patchProblem(artifacts, manifest);
  return [...textProblems(artifacts), ...(patches === undefined ? [] : [patches])];
}

/** The same for the files that the agent writes itself, before anything is exported. */
export function textProblems(artifacts: string): readonly string[] {
  const problems = [taskIdProblem(join(artifacts, ARTIFACT.taskId)), messageProblem(artifacts)];
  return problems.filter((problem): problem is string => problem !== undefined);
}

function taskIdProblem(path: string): string | undefined {
  const bytes = readBounded(path, LIMITS.taskIdBytes);
  if (!bytes.ok) return `${ARTIFACT.taskId} ${bytes.error}.`;
  const text = strictUtf8(bytes.value)?.trim();
  if (text === undefined) return `${ARTIFACT.taskId} is not UTF-8.`;
  if (text === "") return `${ARTIFACT.taskId} is empty.`;
  return /[\r\n]/.test(text) ? `${ARTIFACT.taskId} has more than one line.` : undefined;
}

function messageProblem(artifacts: string): string | undefined {
  if (agentsMessage(artifacts) !== undefined) return undefined;
  const kind = kindOf(join(artifacts, ARTIFACT.commitMessage));
  if (kind === "missing") return `${ARTIFACT.commitMessage} is missing.`;
  return `${ARTIFACT.commitMessage} is not a file of UTF-8 text that is not empty and at most ${LIMITS.commitMessageBytes} bytes.`;
}

function patchProblem(artifacts: string, manifest: Manifest): string | undefined {
  if (manifest.patches.length === 0) return `${ARTIFACT.patches} is empty: nothing was changed.`;
  let totalBytes = 0;
  for (const { file } of manifest.patches) {
    const { size } = lstatSync(join(artifacts, ARTIFACT.patches, file));
    totalBytes += size;
    if (size > LIMITS.patchBytes)
      return `${ARTIFACT.patches}/${file} is larger than ${LIMITS.patchBytes} bytes.`;
  }
  if (totalBytes <= LIMITS.allPatchesBytes) return undefined;
  return `${ARTIFACT.patches} is larger than ${LIMITS.allPatchesBytes} bytes together.`;
}
