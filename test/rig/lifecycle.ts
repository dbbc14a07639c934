import { expect } from "vitest";
import { type CallOptions, type Ended, GOOD_AGENT, type World } from "./world.ts";

export interface ShownRun {
  readonly run: {
    readonly id: string;
    readonly state: string;
    readonly task: string | null;
    readonly branch: string | null;
    readonly base: string;
    readonly head: string | null;
    readonly parentRun: string | null;
    readonly failure: { readonly stage: string; readonly code: string } | null;
  };
  readonly promotion: {
    readonly before: string;
    readonly after: string;
    readonly why: string;
    readonly accepted: readonly string[];
  } | null;
  readonly rollback: { readonly how: string } | null;
}

/** How a command ended, to be compared with "exit 0": what it said is part of it when it ended otherwise. */
export function ending({ code, stdout, stderr }: Ended): string {
  return code === 0 ? "exit 0" : `exit ${code}: ${stderr}${stdout}`;
}

export async function show(
  world: World,
  run = "@last",
  options: CallOptions = {},
): Promise<ShownRun> {
  const shown = await succeed(world, ["show", run, "--json"], options);
  return JSON.parse(shown.stdout) as ShownRun;
}

/** Runs a command that must end well; its standard error is the message when it does not. */
export async function succeed(
  world: World,
  args: readonly string[],
  options: CallOptions = {},
): Promise<Ended> {
  const ended = await world.guardloop(args, options);
  expect(ending(ended)).toBe("exit 0");
  return ended;
}

/** Runs a command that must be refused; returns what it said. */
export async function refuse(
  world: World,
  args: readonly string[],
  expected: { readonly status?: number; readonly code: string },
  options: CallOptions = {},
): Promise<{ readonly message: string; readonly cure: string; readonly details: string[] }> {
  // Right after the command's name: what stands behind two dashes is the agent's.
  const ended = await world.guardloop([...args.slice(0, 1), "--json", ...args.slice(1)], options);
  const { error } = JSON.parse(ended.stdout) as {
    error: { code: string; message: string; cure: string; details: string[] };
  };
  expect({ ...error, status: ended.code }).toMatchObject({ status: 3, ...expected });
  return error;
}

/** A task from the plan to the checkout and back: run, review, promote, rollback, all of which must end well. */
export async function fullCircle(
  world: World,
  options: CallOptions & { readonly repo?: string; readonly agent?: string } = {},
): Promise<ShownRun> {
  const { repo = world.repo, agent = GOOD_AGENT, ...call } = options;
  const at = { cwd: repo, ...call };
  const head = () => world.git("-C", repo, "rev-parse", "HEAD");
  const before = head();
  const ran = await world.run(agent, [], at);
  expect(ending(ran)).toBe("exit 0");
  const { run } = await show(world, "@last", at);
  const reviewed = await succeed(world, ["review", "@last"], at);
  expect(reviewed.stdout).toContain("+work on T1");
  await succeed(world, ["promote", "@last"], at);
  expect(head()).toBe(run.head);
  expect(world.git("-C", repo, "status", "--porcelain")).toBe("");
  await succeed(world, ["rollback", "@last"], at);
  expect(head()).toBe(before);
  expect(world.git("-C", repo, "status", "--porcelain")).toBe("");
  return show(world, "@last", at);
}

/** A commit by the agent itself; what is not committed the guest commits. */
export const AGENT_COMMIT = 'git -c user.name=A -c user.email=a@b.invalid commit -q -m "Part"';

/** A run that ended `ready`, with what the agent did besides its task. */
export async function readyRun(world: World, also = "", flags: readonly string[] = []) {
  const ended = await world.run(`${GOOD_AGENT}\n${also}`, flags);
  expect(ending(ended)).toBe("exit 0");
  const { run } = await show(world);
  expect(run.state).toBe("ready");
  return { id: run.id, branch: run.branch ?? "", head: run.head ?? "", base: run.base };
}

/** The commit that the principal checkout is at. */
export function headOf(world: World): string {
  return world.git("rev-parse", "HEAD");
}
