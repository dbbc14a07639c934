import { type Server, createServer } from "node:http";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type GuestRun, type Stage, makeStage, runGuest } from "./rig.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const TASK_ID = `printf 'T-1\\n' > "$GUARDLOOP_ARTIFACTS/selected-task-id.txt"`;
const MESSAGE = `printf 'Do the task\\n' > "$GUARDLOOP_ARTIFACTS/last-commit-message.txt"`;
const FINISH = `echo done > done; ${TASK_ID}; ${MESSAGE}`;

interface Session {
  readonly first: string;
  readonly reminder?: string;
  readonly afterLimit?: string;
  /** What the gateway says of the limit, one after another; the last one again and again. */
  readonly limits?: readonly unknown[];
  readonly most?: number;
  readonly onOutput?: (text: string, pid: number) => void;
}

function script(text: string): readonly string[] {
  return ["sh", "-e", "-c", text];
}

async function runAgent(stage: Stage, session: Session): Promise<GuestRun> {
  const { most = 1 } = session;
  const socket = await gateway(stage, session.limits ?? []);
  return runGuest(stage, {
    ...(session.onOutput === undefined ? {} : { onOutput: session.onOutput }),
    job: {
      agent: {
        ...stage.job.agent,
        argv: script(session.first),
        ...(session.reminder === undefined
          ? {}
          : { reminder: { argv: script(session.reminder), most } }),
        ...(session.afterLimit === undefined
          ? {}
          : { afterLimit: { argv: script(session.afterLimit), most, socket } }),
      },
    },
  });
}

/** Answers `GET /guardloop/limit` on a Unix socket. */
async function gateway(stage: Stage, answers: readonly unknown[]): Promise<string> {
  const socket = join(stage.directory, "model.sock");
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/guardloop/limit") {
      response.writeHead(404).end();
      return;
    }
    const waitMs = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    response.end(JSON.stringify({ version: 1, waitMs, sawLimit: waitMs !== null }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return socket;
}

test("an agent that ended without its artifacts is reminded once, and its work counts", async () => {
  const stage = makeStage();

  const run = await runAgent(stage, { first: "echo first", reminder: `echo second; ${FINISH}` });

  expect(run.code).toBe(0);
  expect(run.stdout).toBe("first\nsecond\n");
  expect(run.output).toContain(
    "guardloop guest: the agent ended without its artifacts and is woken again with a reminder: selected-task-id.txt is missing. last-commit-message.txt is missing.\n",
  );
  expect(run.manifest?.resumed).toEqual({ reminders: 1, afterLimits: 0 });
  expect(run.manifest?.agent).toEqual({ outcome: "exited", exitCode: 0, signal: null });
  expect(run.manifest?.patches).toHaveLength(1);
});

test("one reminder is all there is", async () => {
  const stage = makeStage();

  const run = await runAgent(stage, {
    first: `echo x > x; ${TASK_ID}`,
    reminder: "echo again; exit 3",
  });

  expect(run.code).toBe(71);
  expect(run.stdout).toBe("again\n");
  expect(run.manifest?.agent.exitCode).toBe(3);
  expect(run.output).toContain(
    "woken again with a reminder: last-commit-message.txt is missing.\n",
  );
});

test.each([
  ["left its artifacts", FINISH],
  ["left them and failed", `${FINISH}; exit 4`],
  ["was ended by a signal", "kill -9 $$"],
])("an agent that %s is not reminded", async (_what, first) => {
  const stage = makeStage();

  const run = await runAgent(stage, { first, reminder: "echo again" });

  expect(run.stdout).toBe("");
  expect(run.manifest?.resumed).toBeUndefined();
});

test("an agent that was asked to stop is not reminded", async () => {
  const stage = makeStage();
  let isSent = false;

  const run = await runAgent(stage, {
    first: "echo working; exec sleep 1000",
    reminder: "echo again",
    onOutput(text, pid) {
      if (isSent || !text.includes("working")) return;
      isSent = true;
      process.kill(pid, "SIGTERM");
    },
  });

  expect(run.stdout).toBe("working\n");
  expect(run.manifest?.agent.outcome).toBe("stopped");
});

test("a rate limit is waited for, as often as it comes, and the reminder is still there after it", async () => {
  const stage = makeStage();

  const run = await runAgent(stage, {
    first: "echo first; exit 1",
    afterLimit: "echo after limit; exit 1",
    reminder: `echo reminded; ${FINISH}`,
    // Twice a wait that is over when it is asked for again, then no limit any more.
    limits: [30, null, 0, null],
    most: 5,
  });

  expect(run.code).toBe(0);
  expect(run.stdout).toBe("first\nafter limit\nafter limit\nreminded\n");
  expect(run.output).toContain(
    "guardloop guest: waiting for the model API's rate limit to be over: 1 seconds left.\n",
  );
  expect(run.output).toContain("is woken again after the model API's limit.\n");
  expect(run.manifest?.resumed).toEqual({ reminders: 1, afterLimits: 2 });
});

test("a limit that never ends is waited for only so often", async () => {
  const stage = makeStage();

  const run = await runAgent(stage, {
    first: "exit 1",
    afterLimit: "echo again; exit 1",
    limits: [0],
    most: 3,
  });

  expect(run.stdout).toBe("again\nagain\nagain\n");
  expect(run.manifest?.resumed).toEqual({ reminders: 0, afterLimits: 3 });
});

test("a request to stop ends the wait, and what is there is exported", async () => {
  const stage = makeStage();
  let isSent = false;

  const run = await runAgent(stage, {
    first: "echo x > x; exit 1",
    afterLimit: "echo again",
    limits: [86_400_000],
    onOutput(text, pid) {
      if (isSent || !text.includes("1440 minutes left.")) return;
      isSent = true;
      process.kill(pid, "SIGTERM");
    },
  });

  expect(run.stdout).toBe("");
  expect(run.manifest?.patches).toHaveLength(1);
  expect(run.manifest?.resumed).toBeUndefined();
});

test.each([
  ["says nothing of use", ["soon"]],
  ["knows of no limit", [null]],
])("a gateway that %s is not waited for", async (_what, limits) => {
  const stage = makeStage();

  const run = await runAgent(stage, { first: "exit 1", afterLimit: "echo again", limits });

  expect(run.stdout).toBe("");
});

test("a gateway that has gone is not waited for", async () => {
  const stage = makeStage();

  const run = await runAgent(stage, {
    first: `rm "${join(stage.directory, "model.sock")}"; exit 1`,
    afterLimit: "echo again",
    limits: [0],
  });

  expect(run.stdout).toBe("");
  rmSync(join(stage.directory, "model.sock"), { force: true });
});
