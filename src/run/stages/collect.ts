import { setTimeout as delay } from "node:timers/promises";
import { containerName } from "../../core/ids.ts";
import { ARTIFACT, type Manifest } from "../../core/artifacts.ts";
import { type Failure, fail } from "../../core/failures.ts";
import type { AgentEnding, RunSpec } from "../../core/run-spec.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ContainerEnd } from "../../engine/port.ts";
import { visible } from "../../core/visible.ts";
import { type Outbox, readOutbox, saveOutbox } from "../artifacts/outbox.ts";
import { parseManifest } from "../artifacts/manifest.ts";
import { record } from "../drive.ts";
import { redactorInUse } from "../logs/redactions-in-use.ts";
import { withModelTrouble } from "../egress/model-trouble.ts";
import type { RunServices } from "../services.ts";
import type { Stage } from "../stage.ts";
import { minutes, refuseEnding } from "./agent.ts";

export interface Collected {
  readonly collected: {
    readonly taskId: string;
    /** What the agent asked to be said about its last commit. */
    readonly message: string;
    readonly manifest: Manifest;
  };
}

interface Input {
  readonly runId: string;
  readonly spec: RunSpec;
  readonly ending: AgentEnding;
  /** Whether its end has proven the container gone; names are never used again. */
  readonly container?: ContainerEnd["gone"];
}

/** The guest's own exit status for surroundings that are not as agreed; see docs/artifacts.md. */
const GUEST_REFUSED = 70;
/** Statuses of a container whose first program, the guest's Node, could not be started in it. */
const GUEST_NOT_STARTED: ReadonlySet<number> = new Set([125, 126, 127]);
/** What a shell says of a program that it found and could not start, and of one that it did not find. */
const SHELL_SAYS: Readonly<Record<number, string>> = {
  126: "could not be started",
  127: "is not there",
};
const GONE_TRIES = 20;
const GONE_PAUSE_MS = 500;
/** An engine that is started again does not answer for some seconds, and what was done is worth waiting for it. */
const RESTART_MS = 20_000;

/** Proves the container gone, then turns what it left into the host's own copies, before anything else happens. */
export const collectStage: Stage<Input, Collected> = {
  name: "collect",
  async perform(services, { spec, ending, container }) {
    const gone = await proveGone(services, containerName(spec.runId, "agent"), container);
    if (!gone.ok) return gone;
    const outbox = await readOutbox(services.paths.outbox);
    if (outbox.ok) {
      await saveOutbox(outbox.value, services.paths.artifacts);
      await recordVersion(services, spec, outbox.value);
    }
    // Also of a run that fails: what it failed at is worth knowing, and frees the other tasks it was offered.
    const task = outbox.ok ? checkTaskId(outbox.value.taskId, spec, "") : outbox;
    if (task.ok) record(services, spec.runId, { type: "task-selected", task: task.value });
    const endingIsFine = refuseEnding(ending, spec);
    if (!endingIsFine.ok) return endingIsFine;
    if (ending.exitCode === GUEST_REFUSED)
      return fail(
        "guest-refused",
        "The guest found its surroundings not as agreed; the agent was not started.",
      );
    if (!outbox.ok) return outbox;
    if (GUEST_NOT_STARTED.has(ending.exitCode) && outbox.value.manifest === undefined)
      return fail(
        "container-failed",
        `The container ended with status ${ending.exitCode} before the guest could start: Node cannot be run in the image ${spec.image.name}.`,
        { cure: "See `guardloop logs RUN`, and use an image with Git and Node 18 or newer." },
      );
    const exported = refuseUnexported(outbox.value, ending, spec);
    if (!exported.ok) return exported;
    const collected = check(outbox.value, spec);
    if (!collected.ok)
      return sayWhenEnded(await withModelTrouble(services, collected.error), ending, spec);
    return ok({ collected: collected.value });
  },
  async observe(services) {
    const saved = await readOutbox(services.paths.artifacts);
    return ok(saved.ok && saved.value.manifest !== undefined ? "present" : "absent");
  },
  // What was saved stays: it is what a person looks at when the run has failed.
  undo: async () => ok(undefined),
};

const VERSION_LENGTH = 200;

/** Whatever becomes of the run: the guest asked the agent's program before it started it. */
async function recordVersion(services: RunServices, spec: RunSpec, outbox: Outbox): Promise<void> {
  const manifest = parseManifest(outbox.manifest);
  const said = manifest.ok ? manifest.value.versions.agent : undefined;
  if (said === undefined || said.trim() === "") return;
  const redactor = await redactorInUse(services, spec);
  const version = visible(redactor.text(said.trim()), "one-line").slice(0, VERSION_LENGTH);
  record(services, spec.runId, { type: "agent-version", version });
}

/**
 * Asks the engine until the container is gone; one that stays is removed by force, once. An engine that does not answer
 * is asked again for as long as a restart takes.
 *
 * @param known what the container's end has proven.
 */
export async function proveGone(
  services: Pick<RunServices, "engine">,
  name: string,
  known?: ContainerEnd["gone"],
): Promise<Result<void, Failure>> {
  if (known === "proven") return ok(undefined);
  for (let attempt = 0; attempt < GONE_TRIES; attempt += 1) {
    const there = await existsAfterRestart(services, name);
    if (!there.ok) return there;
    if (!there.value) return ok(undefined);
    if (attempt === GONE_TRIES / 2) await services.engine.remove(name);
    await delay(GONE_PAUSE_MS);
  }
  return fail("container-survived", `The container ${name} is still there.`);
}

async function existsAfterRestart(
  { engine }: Pick<RunServices, "engine">,
  name: string,
): Promise<Result<boolean, Failure>> {
  const start = performance.now();
  for (;;) {
    const there = await engine.exists(name);
    if (there.ok || performance.now() - start > RESTART_MS) return there;
    await delay(GONE_PAUSE_MS);
  }
}

/** The required artifacts, one after another; the first that is missing or bad names the failure. */
export function check(outbox: Outbox, spec: RunSpec): Result<Collected["collected"], Failure> {
  const manifest = parseManifest(outbox.manifest);
  const started = manifest.ok ? refuseNotStarted(manifest.value, outbox, spec) : ok(undefined);
  if (!started.ok) return started;
  const ended = manifest.ok ? howAgentEnded(manifest.value, spec) : "";
  const taskId = checkTaskId(outbox.taskId, spec, ended);
  if (!taskId.ok) return taskId;
  const message = checkMessage(outbox.commitMessage, ended);
  if (!message.ok) return message;
  if (outbox.patches.length === 0)
    return fail(
      "missing-patches",
      "The artifact patches holds no patch: nothing was changed, or the export failed.",
    );
  if (!manifest.ok) return manifest;
  if (manifest.value.base !== spec.base)
    return fail("bad-manifest", "The artifact manifest.json speaks of another base commit.");
  const named = manifest.value.patches.map((entry) => entry.file).join("\n");
  if (named !== outbox.patches.map((patch) => patch.name).join("\n"))
    return fail(
      "bad-manifest",
      "The artifact manifest.json does not list the patches that are there.",
    );
  return ok({ taskId: taskId.value, message: message.value, manifest: manifest.value });
}

/** An agent that a shell looked for in vain left nothing; one that did its task and then missed a program did. */
function refuseNotStarted(
  { agent }: Manifest,
  outbox: Outbox,
  spec: RunSpec,
): Result<void, Failure> {
  if (agent.outcome === "not-started")
    return fail(
      "agent-not-started",
      `The program ${spec.agent.argv[0] ?? ""} could not be started in the container.`,
    );
  const says = agent.exitCode === null ? undefined : SHELL_SAYS[agent.exitCode];
  const left = [outbox.taskId, outbox.commitMessage].some((bytes) => bytes !== undefined);
  if (says === undefined || left) return ok(undefined);
  return fail(
    "agent-not-started",
    `The agent ended with status ${agent.exitCode} and left nothing: in the container a program that it needs ${says}.`,
  );
}

/** The completion clock was reached, and the manifest, which is written last, is not there. */
function refuseUnexported(
  outbox: Outbox,
  ending: AgentEnding,
  spec: RunSpec,
): Result<void, Failure> {
  if (ending.kind !== "completion-limit" || outbox.manifest !== undefined) return ok(undefined);
  return fail("agent-completion-limit", `${doneButNotEnded(ending, spec)}, unfinished.`);
}

function sayWhenEnded(
  failure: Failure,
  ending: AgentEnding,
  spec: RunSpec,
): Result<never, Failure> {
  if (ending.kind !== "completion-limit") return err(failure);
  return err({ ...failure, message: `${failure.message} ${doneButNotEnded(ending, spec)}.` });
}

/** A sentence about an agent that the completion clock ended, without its full stop. */
export function doneButNotEnded({ expected }: AgentEnding, { limits }: RunSpec): string {
  const after = minutes(limits.completionMs ?? 0);
  switch (expected) {
    case "export":
      return `The agent had ended, and the export of its work was ended after ${after}`;
    case "said":
      return `The agent had said that it was done, did not end, and was ended after ${after}`;
    default:
      return `The agent had left the files that are required, was silent for ${after}, and was ended`;
  }
}

/** Points at the cause where the agent did not end well; empty otherwise. */
function howAgentEnded({ agent, limitsHit }: Manifest, { container }: RunSpec): string {
  const limits = [
    (limitsHit?.memory ?? 0) > 0
      ? ` A program in the container was ended at the memory limit of ${Math.round(container.memoryBytes / 2 ** 20)} MiB.`
      : "",
    (limitsHit?.processes ?? 0) > 0
      ? ` The container hit its limit of ${container.pids} processes.`
      : "",
  ].join("");
  if (agent.outcome === "signalled")
    return ` It was ended by ${agent.signal ?? "a signal"}.${limits}`;
  if (agent.exitCode === null || agent.exitCode === 0) return limits;
  return ` It ended with status ${agent.exitCode}.${limits}`;
}

function checkTaskId(
  bytes: Buffer | undefined,
  spec: RunSpec,
  ended: string,
): Result<string, Failure> {
  if (bytes === undefined)
    return fail("missing-task-id", `The agent did not leave ${ARTIFACT.taskId}.${ended}`);
  const text = decode(bytes)?.replace(/\r?\n$/, "");
  const offered = spec.offered.map((task) => task.id);
  if (text !== undefined && offered.includes(text)) return ok(text);
  const shown = text === undefined ? "bytes that are not UTF-8" : JSON.stringify(text.slice(0, 80));
  return fail(
    "bad-task-id",
    `${ARTIFACT.taskId} says ${shown}; offered were ${offered.join(", ")}.`,
  );
}

function checkMessage(bytes: Buffer | undefined, ended: string): Result<string, Failure> {
  if (bytes === undefined)
    return fail(
      "missing-commit-message",
      `The agent did not leave ${ARTIFACT.commitMessage}.${ended}`,
    );
  const text = decode(bytes)?.trim();
  if (text === undefined)
    return fail("bad-commit-message", `${ARTIFACT.commitMessage} is not UTF-8.`);
  if (text === "") return fail("bad-commit-message", `${ARTIFACT.commitMessage} is empty.`);
  if (text.includes("\0"))
    return fail("bad-commit-message", `${ARTIFACT.commitMessage} holds a NUL byte.`);
  return ok(text);
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
