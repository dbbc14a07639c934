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

export function json<T>(ended: Ended): T {
  return JSON.parse(ended.stdout) as T;
}

export async function show(
  world: World,
  run = "@last",
  options: CallOptions = {},
): Promise<ShownRun> {
  return json<ShownRun>(await world.guardloop(["show", run, "--json"], options));
}

/** Runs a command that must end well; its standard error is the message when it does not. */
export async function succeed(
  world: World,
  args: readonly string[],
  options: CallOptions = {},
): Promise<Ended> {
  const ended = await world.guardloop(args, options);
  expect(ended.code, `${args.join(" ")}: ${ended.stderr}${ended.stdout}`).toBe(0);
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
  const { error } = json<{
    error: { code: string; message: string; cure: string; details: string[] };
  }>(ended);
  expect(error.code, error.message).toBe(expected.code);
  expect(ended.code).toBe(expected.status ?? 3);
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
  expect(ran.code, ran.stderr).toBe(0);
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
