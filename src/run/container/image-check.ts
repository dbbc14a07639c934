import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Failure, fail } from "../../core/failures.ts";
import { type Result, ok } from "../../core/result.ts";
import type { EngineSetup } from "../../core/run-spec.ts";
import type { ContainerSpec, Engine, ImageFacts } from "../../engine/port.ts";
import { ensurePrivateDirectory } from "../../files/private-directory.ts";
import { writeAtomic } from "../../files/write-atomic.ts";
import { stateId } from "../paths.ts";
import { containerUser } from "./container-user.ts";

const OLDEST_NODE = 18;
/** Runs in the image; prints what the guest depends on. */
const PROBE = `
const { spawnSync } = require("node:child_process");
const git = spawnSync("git", ["--version"], { encoding: "utf8" });
console.log(JSON.stringify({ node: process.versions.node, git: git.status === 0 ? git.stdout.trim() : null }));
`;
const ANSWER = z.object({ node: z.string(), git: z.string().nullable() });

export interface CheckedImage {
  readonly name: string;
  readonly facts: ImageFacts;
  readonly setup: EngineSetup;
}

/**
 * Makes sure that an image has Node and Git. An image that guardloop built is known to; any other is asked once, in
 * a container with the full posture, and the answer is remembered by the image's id.
 */
export async function checkImage(
  engine: Engine,
  image: CheckedImage,
  stateDir: string,
): Promise<Result<void, Failure>> {
  if (image.facts.labels["guardloop.image.version"] !== undefined) return ok(undefined);
  const directory = join(stateDir, "images");
  const remembered = join(directory, `${image.facts.id.replace(/[^0-9a-f]/g, "")}.json`);
  const known = await readFile(remembered, "utf8").catch(() => undefined);
  if (known !== undefined) return ok(undefined);
  const probed = await probe(engine, image, stateDir);
  if (!probed.ok) return probed;
  await ensurePrivateDirectory(directory);
  await writeAtomic(remembered, `${JSON.stringify(probed.value)}\n`);
  return ok(undefined);
}

async function probe(
  engine: Engine,
  image: CheckedImage,
  stateDir: string,
): Promise<Result<z.infer<typeof ANSWER>, Failure>> {
  const chunks: Buffer[] = [];
  const end = await engine.run(
    checkingSpec({ purpose: "image-check", image, stateDir, script: PROBE }),
    { onOutput: (stream, chunk) => stream === "stdout" && chunks.push(chunk) },
    {},
  );
  const lacks = (what: string) =>
    fail("image-unsuitable", `The image ${image.name} lacks what the guest needs: ${what}.`);
  if (!end.ok)
    return end.error.code === "engine-unavailable" ? end : lacks(`node (${end.error.message})`);
  const answer = ANSWER.safeParse(parse(Buffer.concat(chunks).toString("utf8")));
  if (!answer.success) return lacks("node");
  if (Number.parseInt(answer.data.node, 10) < OLDEST_NODE)
    return lacks(`node ${OLDEST_NODE} or newer (it has ${answer.data.node})`);
  return answer.data.git === null ? lacks("git") : ok(answer.data);
}

export interface Checking {
  readonly purpose:
    | "image-check"
    | "limits-check"
    | "clock-check"
    | "agent-check"
    | "overlay-check"
    | "overlay-cleaning";
  readonly image: CheckedImage;
  readonly stateDir: string;
  /** JavaScript for Node. */
  readonly script: string;
}

/** A short container with the full posture and small limits, over nothing of a run. */
export function checkingSpec(checking: Checking): ContainerSpec {
  const { purpose, image, stateDir, script } = checking;
  const { id } = image.facts;
  const digest = createHash("sha256").update(`${id}${process.pid}`).digest("hex").slice(0, 12);
  return {
    name: `guardloop-${purpose}-${digest}`,
    image: id,
    setup: image.setup,
    labels: { "guardloop.run": purpose, "guardloop.state": stateId(stateDir) },
    user: containerUser(),
    network: "none",
    memoryBytes: 512 * 1024 * 1024,
    cpus: 1,
    pids: 64,
    tmpBytes: 16 * 1024 * 1024,
    homeBytes: 16 * 1024 * 1024,
    mounts: [],
    env: { HOME: "/guardloop/home" },
    passEnv: [],
    workdir: "/",
    argv: ["node", "-e", script],
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
