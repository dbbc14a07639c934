import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Failure } from "../../src/core/failures.ts";
import type { Result } from "../../src/core/result.ts";
import { DOCKER_SETUP } from "../../src/core/run-spec.ts";
import { hostEnvironment } from "../../src/config/environment.ts";
import { engineClient } from "../../src/engine/client.ts";
import { dockerEngine } from "../../src/engine/docker/engine.ts";
import { podmanEngine } from "../../src/engine/podman/engine.ts";
import type { ContainerEnd, ContainerSpec, Engine } from "../../src/engine/port.ts";

export const UID = 1000;

/** Two layers below, an empty one above, all of the container's user, in a directory of their own. */
export interface Layers {
  readonly root: string;
  readonly engine: Engine;
  /** Puts a file into a layer. */
  readonly write: (path: string, text: string) => void;
  /** Everything of the two layers below that must never change: names, content, owners, modes and times. */
  readonly below: () => string;
  readonly spec: (script: string, changes?: Partial<ContainerSpec>) => ContainerSpec;
  readonly run: (
    script: string,
    changes?: Partial<ContainerSpec>,
  ) => Promise<{ readonly end: Result<ContainerEnd, Failure>; readonly said: string }>;
  /** Volumes that the engine has for these layers. */
  readonly volumes: () => readonly string[];
  /** Mounts of these layers on the host. */
  readonly mounts: () => readonly string[];
  readonly [Symbol.dispose]: () => void;
}

/** Where the client is, which dialect it speaks, and what its containers need to be told. */
export interface Client {
  readonly kind: "docker" | "podman";
  readonly program: string;
  readonly runtime: string;
}

let made = 0;

/** @param suffix put at the end of the directory's name, for paths that an engine could trip over. */
export function makeLayers(client: Client, suffix = ""): Layers {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "guardloop-layers-")));
  const root = join(own, `layers${suffix}`);
  const at = (name: string): string => join(root, name);
  for (const name of ["first", "second", "upper", "work"]) mkdirSync(at(name), { recursive: true });
  const stateId = `test-${process.pid}-${(made += 1)}`;
  const layers: Layers = {
    root,
    engine: openEngine(client),
    write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    below: () => [...describe(at("first")), ...describe(at("second"))].join("\n"),
    spec: (script, changes) => specOf({ root, stateId, script, client }, changes),
    async run(script, changes) {
      give(root);
      // The kernel mounts no work directory twice that was mounted as volatile.
      rmSync(at("work"), { recursive: true });
      mkdirSync(at("work"));
      const chunks: Buffer[] = [];
      const sink = { onOutput: (_: string, chunk: Buffer) => void chunks.push(chunk) };
      const end = await layers.engine.run(layers.spec(script, changes), sink, {});
      return { end, said: Buffer.concat(chunks).toString("utf8") };
    },
    volumes: () =>
      ask(client.program, "volume", "ls", "--format", "{{.Name}}")
        .filter((name) => name !== "")
        .filter((name) => optionsOf(client, name).includes(`${root}/upper`)),
    mounts: () =>
      readFileSync("/proc/mounts", "utf8")
        .split("\n")
        .filter((line) => line.includes("overlay") && line.includes(`${root}/upper`)),
    [Symbol.dispose]: () => rmSync(own, { recursive: true, force: true }),
  };
  layers.write("first/moved/file", "of the first\n");
  layers.write("first/both", "of the first\n");
  layers.write("second/both", "of the second\n");
  layers.write("second/kept", "of the second\n");
  layers.write("second/gone/file", "of the second\n");
  linkSync(at("second/kept"), at("second/linked"));
  chmodSync(at("second/kept"), 0o640);
  return layers;
}

function openEngine({ kind, program, runtime }: Client): Engine {
  const client = engineClient(kind, program, hostEnvironment());
  const now = (): Date => new Date();
  if (kind === "docker") return dockerEngine(client, runtime, now);
  const host = { openFilesLimit: 16_384, processesLimit: 32_768, hasRunc: true };
  return podmanEngine({ client, runtime, host, now });
}

interface Wanted {
  readonly root: string;
  readonly stateId: string;
  readonly script: string;
  readonly client: Client;
}

function specOf(
  { root, stateId, script, client }: Wanted,
  changes: Partial<ContainerSpec> = {},
): ContainerSpec {
  const at = (name: string): string => join(root, name);
  return {
    name: `guardloop-overlay-check-${stateId}`,
    image: "guardloop-agent",
    setup: {
      ...DOCKER_SETUP,
      runtime: client.runtime,
      processes: client.kind === "podman" ? 32_768 : null,
    },
    labels: { "guardloop.run": "overlay-check", "guardloop.state": stateId },
    user: { uid: UID, gid: UID },
    network: "none",
    memoryBytes: 256 * 2 ** 20,
    cpus: 1,
    pids: 64,
    tmpBytes: 2 ** 24,
    homeBytes: 2 ** 24,
    mounts: [],
    overlays: [
      {
        role: "workspace",
        lower: [at("first"), at("second")],
        upper: at("upper"),
        work: at("work"),
        durability: "volatile",
        target: "/workspace",
      },
    ],
    env: {},
    passEnv: [],
    workdir: "/workspace",
    argv: ["sh", "-ec", script],
    ...changes,
  };
}

/** Everything to the container's user, as guardloop's own layers are; a work directory is the kernel's. */
function give(directory: string): void {
  chownOnce(directory);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && entry.name !== "work") give(path);
    else if (entry.name !== "work") chownOnce(path);
  }
}

/** A second call would change the file's change time, by which Git knows it. */
function chownOnce(path: string): void {
  if (lstatSync(path).uid !== UID) chownSync(path, UID, UID);
}

function describe(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true })
    .map(String)
    .toSorted()
    .map((name) => {
      const { ino, mode, uid, nlink, size, mtimeMs, ctimeMs } = lstatSync(join(directory, name));
      const path = relative(dirname(directory), join(directory, name));
      return [path, ino, mode.toString(8), uid, nlink, size, mtimeMs, ctimeMs].join(" ");
    });
}

/** Of a volume; another test's can be gone by now. */
function optionsOf({ program }: Client, name: string): string {
  try {
    return ask(program, "volume", "inspect", name).join("\n");
  } catch {
    return "";
  }
}

function ask(program: string, ...args: readonly string[]): readonly string[] {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    .trim()
    .split("\n");
}
