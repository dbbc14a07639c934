import type { GuestJob } from "../core/artifacts.ts";
import { type Result, err, ok } from "../core/result.ts";
import { readBounded } from "./read-file.ts";

const JOB_BYTES = 64 * 1024 * 1024;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads job.json. The host wrote it and mounted it read-only, so this looks for a host and a guest of different
 * versions, not for malice.
 *
 * @returns the job, or one sentence.
 */
export function readJob(path: string): Result<GuestJob, string> {
  const bytes = readBounded(path, JOB_BYTES);
  if (!bytes.ok) return err(`${path} ${bytes.error}.`);
  let job: GuestJob;
  try {
    job = JSON.parse(bytes.value.toString("utf8"));
  } catch {
    return err(`${path} is not JSON.`);
  }
  const wrong = whatIsWrong(job);
  return wrong === undefined ? ok(job) : err(`${path}: ${wrong}.`);
}

/** Field, check, and what to say when the check fails. */
const CHECKS: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
  ["version", (value) => value === 1, "is not 1"],
  ["mode", isOneOf("run", "export", "setup"), "is none of `run`, `export` and `setup`"],
  ["commands", (value) => value === undefined || isStringList(value), "is not a list of strings"],
  ["isolation", isOneOf("container", "none"), "is neither `container` nor `none`"],
  ["base", (value) => typeof value === "string" && OBJECT_ID.test(value), "is not an object id"],
  ["runId", (value) => typeof value === "string", "is not a string"],
  ["author", hasStrings("name", "email"), "has no name and email"],
  ["overlayPaths", isStringList, "is not a list of strings"],
  [
    "paths",
    hasStrings("workspace", "artifacts", "prompt", "baseStore", "baseIndex"),
    "is not complete",
  ],
  ["agent", isAgent, "is not complete"],
  ["relays", (value) => value === undefined || isRelayList(value), "is not a list of relays"],
];

function whatIsWrong(job: unknown): string | undefined {
  if (!isRecord(job)) return "it is not an object";
  const failed = CHECKS.find(([field, check]) => !check(job[field]));
  return failed === undefined ? undefined : `${failed[0]} ${failed[2]}`;
}

function isOneOf(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === "string" && allowed.includes(value);
}

function isAgent(agent: unknown): boolean {
  if (!isRecord(agent) || !isStringList(agent.argv)) return false;
  if (agent.versionArgv !== undefined && !isStringList(agent.versionArgv)) return false;
  if (agent.reminder !== undefined && !isTurn(agent.reminder)) return false;
  if (agent.afterLimit !== undefined && !isTurnAfterLimit(agent.afterLimit)) return false;
  return [agent.env, agent.homeFiles].every(
    (record) => isRecord(record) && isStringList(Object.values(record)),
  );
}

function isTurn(turn: unknown): boolean {
  return isRecord(turn) && isStringList(turn.argv) && Number.isSafeInteger(turn.most);
}

function isTurnAfterLimit(turn: unknown): boolean {
  return isTurn(turn) && hasStrings("socket")(turn);
}

function isRelayList(relays: unknown): boolean {
  if (!Array.isArray(relays)) return false;
  return relays.every(
    (relay) => isRecord(relay) && Number.isSafeInteger(relay.port) && hasStrings("socket")(relay),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function hasStrings(...keys: readonly string[]): (value: unknown) => boolean {
  return (value) =>
    isRecord(value) && keys.every((key) => typeof value[key] === "string" && value[key] !== "");
}
