import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { ModelStep } from "../model-api/model-api.mjs";
import type { Ended, World } from "../world.ts";

/** The value that must not be written down. */
export const KEY = "placeholder-key-5f0c2e";
/** Given to the program by an argument of its own; the scripted model API looks for it in the requests. */
const MARK = "Answer like the test asks.";
/** How each published program is reached, and told something of its own. */
export const PROGRAMS = {
  codex: {
    key: "OPENAI_API_KEY",
    address: ["OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"],
    path: "/v1/responses",
    saysMark: ["-c", `developer_instructions=${MARK}`],
  },
  claude: {
    key: "ANTHROPIC_API_KEY",
    address: ["ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"],
    path: "/v1/messages",
    saysMark: ["--append-system-prompt", MARK],
  },
} as const;
type Program = keyof typeof PROGRAMS;

interface AgentEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface HostedCall {
  readonly image: string;
  readonly steps: readonly ModelStep[];
  readonly flags?: readonly string[];
  /** What follows the two dashes. */
  readonly extra?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What has to be passed into the container. */
export function hostedEnv(
  program: Program,
  { steps, env = {} }: Pick<HostedCall, "steps" | "env">,
): Record<string, string> {
  const { key, address } = PROGRAMS[program];
  const scripted = JSON.stringify({ steps, mark: MARK });
  return { [key]: KEY, [address[0]]: address[1], SCRIPTED_MODEL: scripted, ...env };
}

/** `run --agent PROGRAM` on a bridge, with a model API that is scripted and inside the container. */
export function runHosted(world: World, program: Program, call: HostedCall): Promise<Ended> {
  const { image, flags = [], extra = [] } = call;
  const env = hostedEnv(program, call);
  const passed = Object.keys(env).flatMap((name) => ["--pass-env", name]);
  const fixed = ["--agent", program, "--network", "bridge", "--image", image];
  return world.guardloop(["run", ...fixed, ...passed, ...flags, "--", ...extra], { env });
}

export async function logOf(world: World): Promise<string> {
  return (await world.guardloop(["logs", "@last"])).stdout;
}

/** What `logs --events` prints. */
export async function eventsOf(world: World): Promise<readonly AgentEvent[]> {
  const printed = await world.guardloop(["logs", "@last", "--events"]);
  const lines = printed.stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => (JSON.parse(line) as { event: AgentEvent }).event);
}

/** What the scripted model API and the refusing proxy wrote down; see in-front-of.mjs. */
export function reported(
  log: string,
  what: "model request" | "outside request",
): readonly unknown[] {
  const lines = log.split("\n").filter((line) => line.startsWith(`${what}: `));
  return lines.map((line) => JSON.parse(line.slice(what.length + 2)));
}

/** Paths below guardloop's state directory of the files that hold a text. */
export function filesWith(world: World, text: string): readonly string[] {
  return readdirSync(world.state, { recursive: true, encoding: "utf8" })
    .map((name) => join(world.state, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text))
    .map((path) => relative(world.state, path))
    .toSorted();
}
