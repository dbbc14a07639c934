import type { Settings } from "../../config/settings.ts";
import { AGENT_NAMES } from "../../core/agent-name.ts";
import { gitText, userGit } from "../../git/git.ts";
import { judgeGitVersion } from "../../git/version.ts";
import { containerClockAheadMs } from "../../run/container/clock-check.ts";
import { chooseMethod } from "../../run/layers/method.ts";
import { type Context, gitProgram } from "../context.ts";
import { duration, size } from "../output/duration.ts";
import { engineText, shortId } from "../output/engine.ts";
import { type Tools, engineAndImage } from "../run-tools.ts";
import type { StateDirectory } from "./state.ts";
import { type Check, good, problem, warning } from "./check.ts";

/** Further apart than this is no matter of how long a container takes to start. */
const CLOCK_TOLERANCE_MS = 60_000;

export function nodeCheck(): Check {
  return good("node", process.versions.node);
}

export async function gitCheck(context: Context): Promise<Check> {
  const program = gitProgram(context);
  if (!program.ok) return problem("git", program.error);
  const version = await gitText(userGit(program.value, context.env, "/"), ["version"]);
  if (!version.ok) return problem("git", version.error);
  return { name: "git", ...judgeGitVersion(version.value) };
}

export function agentCheck(settings: Settings): Check {
  const { names } = settings.agent;
  if (names.length > 0)
    return good("agent", `${names.join(", ")}, network ${settings.network.mode}`);
  return warning(
    "agent",
    "none is configured",
    `Pass --agent to \`guardloop run\`, or set agent.name in guardloop.toml: ${AGENT_NAMES.join(", ")}.`,
  );
}

export async function engineChecks(
  context: Context,
  settings: Settings,
  state: StateDirectory,
): Promise<{ readonly checks: readonly Check[]; readonly tools: Tools | undefined }> {
  const tools = await engineAndImage(context, settings);
  const { image } = settings.container;
  if (!tools.ok) {
    const name = tools.error.code.startsWith("image") ? "image" : "engine";
    return { checks: [problem(name, tools.error)], tools: undefined };
  }
  const { facts } = tools.value;
  const checks = [
    good("engine", `${engineText(facts)}, ${facts.cpus} CPUs, ${size(facts.memoryBytes)}`),
    ...tools.value.notices.map((text) => warning("engine", text, null)),
    good("image", `${image} (${shortId(tools.value.image.id)})`),
    ...(state === "absent" ? [] : [await snapshotCheck(context, settings, tools.value)]),
    ...(await containerClockCheck(context, image, tools.value)),
  ];
  return { checks, tools: tools.value };
}

/**
 * What did not work is tried again here, since something may have been mended. Without a state directory there is no
 * place to try it in.
 */
async function snapshotCheck(
  { env, interrupt }: Context,
  { container, snapshot }: Settings,
  { engine, facts, image }: Tools,
): Promise<Check> {
  const chosen = await chooseMethod({
    wanted: snapshot.method,
    engine,
    facts,
    image: { name: container.image, facts: image },
    stateDir: env.stateDir,
    trial: "anew",
    signal: interrupt,
  });
  if (!chosen.ok) return problem("snapshot", chosen.error);
  return good("snapshot", `${chosen.value.method}: ${chosen.value.why}`);
}

async function containerClockCheck(
  context: Context,
  name: string,
  { engine, facts, image }: Tools,
): Promise<readonly Check[]> {
  const ahead = await containerClockAheadMs(engine, {
    image: { name, facts: image, setup: facts.setup },
    stateDir: context.env.stateDir,
    now: context.now,
  });
  if (!ahead.ok) return [problem("engine", ahead.error)];
  if (ahead.value === undefined || Math.abs(ahead.value) <= CLOCK_TOLERANCE_MS) return [];
  const where = ahead.value > 0 ? "ahead of" : "behind";
  return [
    warning(
      "clock",
      `The clock in a container is ${duration(Math.abs(ahead.value))} ${where} this machine's, so the agent's commits get wrong times.`,
      "Set the clock of the machine that the engine runs on, or start the engine's virtual machine again.",
    ),
  ];
}
