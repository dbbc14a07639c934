import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { readDocument, tableWith } from "../docs/documents.ts";
import { GOOD_AGENT, checkoutDigest, leftovers, makeWorld, runsOf } from "../rig/world.ts";
import { type Promised, engineContract } from "./engine-contract.ts";

const isRoot = process.getuid?.() === 0;

/** What a client prints; undefined where there is none, or it fails. */
function ask(program: string, ...args: readonly string[]): string | undefined {
  const ended = spawnSync(program, args, { encoding: "utf8", timeout: 60_000 });
  return ended.status === 0 ? ended.stdout : undefined;
}

/**
 * What an engine lacks on this machine for its contract to be tested; undefined when nothing. `scripts/prepare`
 * brings all of it as root on Debian.
 */
function lacking(kind: Promised["kind"]): string | undefined {
  const client = kind === "podman" ? "podman" : "docker";
  if (ask(client, "info") === undefined) return `${client} does not answer`;
  if (ask(client, "image", "inspect", "guardloop-agent") === undefined)
    return `${client} has no image guardloop-agent`;
  const runtimes = ask("docker", "info", "--format", "{{json .Runtimes}}") ?? "";
  if (kind === "runsc" && !runtimes.includes('"runsc"')) return "docker has no runtime runsc";
  return undefined;
}

/** Never left out in silence: it is said, and where everything must be tested it is a failure. */
function contractOf(promised: Promised): void {
  const lacks = lacking(promised.kind);
  if (lacks === undefined) {
    engineContract(promised);
    return;
  }
  const isRequired = process.env.CI === "true";
  if (!isRequired)
    console.warn(`\n  NOT TESTED on this machine: the contract on ${promised.kind}: ${lacks}\n`);
  test.skipIf(!isRequired)(`${promised.kind} can be tested on this machine`, () => {
    expect(lacks).toBeUndefined();
  });
}

/** Seen from inside, gVisor's kernel shows less of itself than Linux, or something else. */
const UNSEEN_IN_GVISOR = tableWith(readDocument("docs/engines.md"), "part of the posture").rows.map(
  ([name = ""]) => name.replaceAll("`", ""),
);

if (isRoot) {
  contractOf({
    kind: "docker",
    client: "docker",
    engine: { kind: "docker", rights: "rootful" },
    unseen: [],
    atLimit: "program",
    extent: "limits",
  });
  contractOf({
    kind: "podman",
    client: "podman",
    engine: { kind: "podman", rights: "rootful" },
    unseen: [],
    atLimit: "program",
    extent: "all",
  });
  contractOf({
    kind: "runsc",
    client: "docker",
    engine: { kind: "docker", rights: "rootful", runtime: "runsc" },
    unseen: UNSEEN_IN_GVISOR,
    atLimit: "container",
    extent: "all",
  });
}

// As an ordinary user Podman is rootless. scripts/test runs this file as one.
describe.skipIf(isRoot)("rootless Podman", () => {
  const info = ask("podman", "info", "--format", "json");
  const controllers = info === undefined ? [] : controllersIn(info);
  const keepsLimits = ["cpu", "memory", "pids"].every((name) => controllers.includes(name));

  test.skipIf(keepsLimits)("without control over limits is refused by name", async () => {
    expect(info, "podman info fails on this machine").toBeDefined();
    using world = makeWorld("podman");
    const before = checkoutDigest(world);
    const ended = await world.run(GOOD_AGENT);
    expect(ended.stderr).toContain("Rootless Podman cannot limit");
    expect(ended.stderr).toContain("container posture cannot be kept");
    expect(ended.stderr).toContain("[engine-unsupported]");
    expect(ended.code).toBe(3);
    expect(await runsOf(world)).toEqual([]);
    expect(checkoutDigest(world)).toBe(before);
    expect(leftovers(world)).toEqual([]);
  });

  if (keepsLimits)
    contractOf({
      kind: "podman",
      client: "podman",
      engine: { kind: "podman", rights: "rootless" },
      unseen: [],
      atLimit: "program",
      extent: "all",
    });
});

function controllersIn(info: string): readonly string[] {
  const { host } = JSON.parse(info) as { host: { cgroupControllers: readonly string[] | null } };
  return host.cgroupControllers ?? [];
}
