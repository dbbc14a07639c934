import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { findProgram } from "../../src/process/find-program.ts";
import { type World, letMountOverlays, makeWorld } from "../rig/world.ts";
import { overlayContract } from "./overlay-contract.ts";

const isRoot = process.getuid?.() === 0;

/** As for the contract of engines: what cannot be tested is said, and is a failure where everything must be. */
function onReal(kind: "docker" | "podman"): void {
  const program = findProgram(kind, process.env["PATH"] ?? "");
  const answers = program !== undefined && asks(program, "image", "inspect", "guardloop-agent");
  if (answers) {
    overlayContract(kind, "real", () => ({ kind, program, runtime: "" }));
    return;
  }
  if (process.env.CI !== "true")
    console.warn(`\n  NOT TESTED on this machine: overlay mounts in ${kind}\n`);
  test.skipIf(process.env.CI !== "true")(`${kind} can be tested on this machine`, ({ expect }) => {
    expect(answers).toBe(true);
  });
}

function asks(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { timeout: 60_000 }).status === 0;
}

// Layers belong to another user than the one who mounts them: only root can have both.
describe.skipIf(!isRoot)("as root", () => {
  describe("the scripted engines", () => {
    const worlds: Partial<Record<"docker" | "podman", World>> = {};
    beforeAll(() => {
      worlds.docker = makeWorld("scripted");
      worlds.podman = makeWorld("scripted-podman");
      for (const world of Object.values(worlds)) letMountOverlays(world);
    });
    afterAll(() => {
      for (const world of Object.values(worlds)) world[Symbol.dispose]();
    });
    for (const kind of ["docker", "podman"] as const)
      overlayContract(`the scripted ${kind}`, "scripted", () => ({
        kind,
        program: join(worlds[kind]?.bin ?? "", kind),
        runtime: "",
      }));
  });
  onReal("docker");
  onReal("podman");
});
