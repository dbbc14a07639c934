import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

const RIG = fileURLToPath(new URL("..", import.meta.url));

/** The agent image with the scripted model API in front of its programs; removed when disposed of. */
export interface HostedAgentImage {
  readonly name: string;
  readonly [Symbol.dispose]: () => void;
}

/** Builds from what is there, without a network. Throws what docker says when guardloop-agent is missing. */
export function buildHostedAgentImage(): HostedAgentImage {
  const name = `guardloop-test-hosted-${randomUUID().slice(0, 8)}`;
  const id = docker(
    "build",
    "--quiet",
    "--network=none",
    `--file=${RIG}/hosted-agent/Dockerfile`,
    // Gives the image an id of its own: another run's removal must not take it away.
    `--label=guardloop.test=${name}`,
    `--tag=${name}`,
    RIG,
  );
  return { name, [Symbol.dispose]: () => docker("rmi", id) };
}

function docker(...args: readonly string[]): string {
  return execFileSync("docker", args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}
