import { tmpdir } from "node:os";
import { beforeAll, expect, test } from "vitest";
import { hostEnvironment } from "../../src/config/environment.ts";
import { buildImage } from "../../src/engine/image/build.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { run } from "../../src/process/spawn.ts";
import { imageDir } from "./scripted-programs.ts";

/** What the image says of itself, from a container with a read-only root and an ordinary user. */
const LOOK = `
echo "node $(node --version)"
echo "npm $(npm --version)"
echo "git $(git --version)"
for name in python3 make rg jq less ps patch diff; do command -v $name >/dev/null || echo "missing $name"; done
python3 -c 'import json, ssl, unittest' || echo "missing python modules"
echo "mounts $(stat -c '%n:%u:%a' /guardloop /workspace | paste -sd' ')"
echo "directory $(pwd)"
for name in codex claude gemini opencode; do command -v $name >/dev/null && echo "$name is $($name --version 2>/dev/null)"; done
`;

const env = hostEnvironment();
const docker = findProgram("docker", env.path) ?? "docker is not on PATH";
let seen = "";

beforeAll(async () => {
  // scripts/prepare has built it, so this only looks.
  const image = await buildImage({
    name: "guardloop-agent",
    engine: { kind: "docker", program: docker },
    env,
    agents: "default",
    source: "auto",
    rebuild: "when-outdated",
    imageDir,
    workDir: tmpdir(),
    onProgress: () => {},
  });
  if (!image.ok) throw new Error(image.error.message);
  const agents = image.value.labels["guardloop.image.agents"] ?? "";
  const posture = "--rm --network none --read-only --cap-drop ALL --user 1000:1000 --tmpfs /tmp";
  const exit = await run({
    argv: [
      docker,
      "run",
      ...posture.split(" "),
      "--env=HOME=/tmp",
      "guardloop-agent",
      "sh",
      "-c",
      LOOK,
    ],
    cwd: tmpdir(),
    env: { PATH: env.path, HOME: env.home, ...env.docker },
    deadlineMs: 60_000,
  });
  if (!exit.ok) throw new Error(exit.error.reason);
  seen = `${exit.value.stdout.toString()}${exit.value.stderr.toString()}agents ${agents}\n`;
}, 900_000);

test("it has a current Node with npm, and Git", () => {
  expect(seen).toMatch(/^node v22\./m);
  expect(seen).toMatch(/^npm \d+\./m);
  expect(seen).toMatch(/^git git version 2\./m);
});

test("it has what ordinary projects need to run their tests", () => {
  expect(seen).not.toContain("missing");
});

test("the mount points belong to the first ordinary user", () => {
  expect(seen).toContain("mounts /guardloop:1000:755 /workspace:1000:755");
  expect(seen).toContain("directory /workspace");
});

test("every agent that its label names starts, and no other is there", () => {
  const named = /^agents (.*)$/m.exec(seen)?.[1];
  const started = ["codex", "claude", "gemini", "opencode"].filter((name) =>
    new RegExp(`^${name} is .*\\d+\\.\\d+`, "m").test(seen),
  );
  expect(started.join(",") || "none").toBe(named);
});
