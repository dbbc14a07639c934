import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentAdapter, AgentEvent, Launch, LaunchRequest } from "../../src/agents/port.ts";
import type { Exit } from "../../src/process/command.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { run } from "../../src/process/spawn.ts";
import type { ModelStep, SeenRequest } from "../rig/model-api/model-api.mjs";

const IMAGE = "guardloop-agent";
/** The container's user: ours, or 1000 for root, which the agents refuse. */
const USER = { uid: process.getuid?.() || 1000, gid: process.getgid?.() || 1000 };
const RIG = fileURLToPath(new URL("../rig/model-api", import.meta.url));
const HOST_ENV = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/",
  ...(process.env["DOCKER_HOST"] === undefined ? {} : { DOCKER_HOST: process.env["DOCKER_HOST"] }),
};

export interface ContainerTask {
  readonly adapter: AgentAdapter;
  readonly request: Partial<LaunchRequest>;
  readonly prompt: string;
  readonly steps: readonly ModelStep[];
  /** What `--pass-env` would bring, and the address of the model API. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of the project, committed before the agent starts; by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** What the session is told when it has ended once. */
  readonly thenPrompt?: string;
}

export interface TaskEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What the adapter's parser makes of the agent's standard output. */
  readonly events: readonly AgentEvent[];
  /** What the model API was asked. */
  readonly requests: readonly SeenRequest[];
  /** Files below the artifacts directory, by relative path. */
  readonly artifacts: Readonly<Record<string, string>>;
}

/** Where a hostile project would like the requests to go. */
const ELSEWHERE =
  "node /rig/model-api.mjs --port 41999 --steps /job/steps.json --log /artifacts/elsewhere.jsonl";

/** Makes a fresh repository, then runs the agent, then writes down what Git says. */
const INSIDE = `
set -eu
cp -r /job/home/. "$HOME"/
git init -q -b main /workspace && cd /workspace
git config user.name Agent && git config user.email agent@example.invalid
echo old > greeting.txt && cp -r /job/files/. . && git add . && git commit -q -m base
status=0
${ELSEWHERE} &
node /rig/model-api.mjs --port "$MODEL_PORT" --steps /job/steps.json --log /artifacts/requests.jsonl -- sh /job/turns.sh || status=$?
git log -1 --format=%s > /artifacts/git-subject.txt
git show HEAD:greeting.txt > /artifacts/git-greeting.txt
git ls-tree --name-only HEAD > /artifacts/git-files.txt
exit $status
`;

/** Runs an agent as guardloop does, in a hardened container without network, against a scripted model API. */
export async function runInContainer(task: ContainerTask): Promise<TaskEnd> {
  await requireProgram(task.adapter.name);
  const directory = await mkdtemp(path.join(tmpdir(), "guardloop-agents-"));
  const name = path.basename(directory).toLowerCase();
  try {
    const launch = await prepare(directory, task);
    const ended = await docker(
      ["run", "--name", name, ...posture(directory, { ...launch.env, ...task.env })],
      [IMAGE, "sh", "-c", INSIDE],
    );
    const artifacts = await readAll(path.join(directory, "artifacts"));
    const stdout = ended.stdout.toString("utf8");
    const parse = task.adapter.parser();
    return {
      code: ended.code,
      stdout,
      stderr: ended.stderr.toString("utf8"),
      events: linesOf(stdout).flatMap((line) => parse(line)),
      requests: linesOf(artifacts["requests.jsonl"] ?? "").map((line) => JSON.parse(line)),
      artifacts,
    };
  } finally {
    await docker(["rm", "--force", name]);
    await rm(directory, { recursive: true, force: true });
  }
}

/** A test of a real program that cannot run must not look like one that passed. */
async function requireProgram(name: string): Promise<void> {
  const image = await docker(["image", "inspect", IMAGE]);
  if (image.code !== 0)
    throw new Error(`The image ${IMAGE} is not there: run \`guardloop image build\`, then again.`);
  const found = await docker(
    ["run", "--rm", "--network", "none", IMAGE],
    ["sh", "-c", `command -v ${name}`],
  );
  if (found.code !== 0)
    throw new Error(`The image ${IMAGE} has no program ${name}: build it again with the agents.`);
}

/** The files the host would mount, and how the agent is started. */
async function prepare(directory: string, task: ContainerTask): Promise<Launch> {
  const request: LaunchRequest = {
    promptPath: "/job/prompt.md",
    prompt: task.prompt,
    model: undefined,
    extraArgs: [],
    ...task.request,
  };
  const launch = task.adapter.launch(request);
  const next =
    task.thenPrompt === undefined
      ? undefined
      : task.adapter.resume?.({ ...request, prompt: task.thenPrompt });
  const turns = [launch.argv, ...(next === undefined ? [] : [next])].map((argv) =>
    commandLine(argv),
  );
  const files = {
    "prompt.md": task.prompt,
    "steps.json": JSON.stringify(task.steps),
    "turns.sh": `${turns.join("\n")}\n`,
    ...Object.fromEntries(
      Object.entries(task.files ?? {}).map(([name, text]) => [`files/${name}`, text]),
    ),
    ...Object.fromEntries(
      Object.entries(launch.homeFiles).map(([name, text]) => [`home/${name}`, text]),
    ),
  };
  for (const name of ["home", "files"])
    await mkdir(path.join(directory, "job", name), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, "job", name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await mkdir(path.join(directory, "artifacts"));
  // The directory made by mkdtemp is closed to others; the container's user must get through it.
  await chmod(directory, 0o755);
  await chown(path.join(directory, "artifacts"), USER.uid, USER.gid);
  return launch;
}

/** For a shell, with no word changed. */
function commandLine(argv: readonly string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}

function posture(directory: string, env: Readonly<Record<string, string>>): readonly string[] {
  const scratch = `rw,exec,nosuid,nodev,size=512m,uid=${USER.uid},gid=${USER.gid}`;
  const all = {
    HOME: "/guardloop/home",
    TMPDIR: "/tmp",
    GUARDLOOP_PROMPT: "/job/prompt.md",
    GUARDLOOP_ARTIFACTS: "/artifacts",
    MODEL_PORT: "8080",
    ...env,
  };
  const tmpfs = ["/tmp", "/guardloop/home", "/workspace"];
  const volumes = [
    `${path.join(directory, "job")}:/job:ro`,
    `${path.join(directory, "artifacts")}:/artifacts:rw`,
    `${RIG}:/rig:ro`,
  ];
  return [
    "--rm",
    "--init",
    "--read-only",
    "--network=none",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--pids-limit=512",
    "--memory=2g",
    `--user=${USER.uid}:${USER.gid}`,
    ...tmpfs.map((at) => `--tmpfs=${at}:${scratch}`),
    ...volumes.map((volume) => `--volume=${volume}`),
    ...Object.entries(all).map(([name, value]) => `--env=${name}=${value}`),
  ];
}

async function docker(options: readonly string[], rest: readonly string[] = []): Promise<Exit> {
  const program = findProgram("docker", HOST_ENV.PATH);
  if (program === undefined)
    throw new Error("docker is not on PATH: install it, then run the tests again.");
  const ended = await run({
    argv: [program, ...options, ...rest],
    cwd: "/",
    env: HOST_ENV,
    deadlineMs: 180_000,
  });
  if (!ended.ok) throw new Error(`docker did not start: ${ended.error.reason}`);
  return ended.value;
}

async function readAll(directory: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    texts[path.relative(directory, file)] = await readFile(file, "utf8");
  }
  return texts;
}

export function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
